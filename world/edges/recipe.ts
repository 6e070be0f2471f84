import type { Host } from '../machine/host.ts';
import type { DebianPart, Part } from '../parts/catalogue.ts';

/** The port on which every edge listens, on its own address. */
export const EDGE_PORT = 443;

/** Namespace of the management cluster with what edges have there for themselves. */
export const EDGE_NAMESPACE = 'edges';

/** How one ingress controller is run: all that differs between them. */
export interface EdgeRecipe {
  readonly parts: readonly Part[];
  /** Part whose programs it expects on its PATH. */
  readonly tools?: DebianPart;
  /** Folders with the definitions (CRDs) that the management cluster must have. */
  readonly definitions?: () => readonly string[];
  /** What it must find in the management cluster when it starts. */
  readonly objects: readonly object[];
  /** Starts the programs; they need not be ready when this returns. */
  start(site: EdgeSite): Promise<void>;
  /** What tells it to pass connections for a host name through to a Service. */
  route(route: Route): object;
}

/** Where the programs of an edge are to run. */
export interface EdgeSite {
  readonly host: Host;
  readonly address: string;
  /** Path of the management cluster's kubeconfig, which works on the host. */
  readonly kubeconfig: string;
  /** Folder for files of this edge. */
  readonly folder: string;
}

/** The way of a host name, from the edge to a port of a Service; TLS passes through untouched. */
export interface Route {
  readonly host: string;
  readonly namespace: string;
  readonly service: string;
  readonly port: number;
}
