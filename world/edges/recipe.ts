import type { Host } from '../machine/host.ts';
import type { DebianPart, Part } from '../parts/catalog.ts';

/** Port on which every edge listens, on its own address. */
export const EDGE_PORT = 443;

/** Namespace in the management cluster for the objects of the edges. */
export const EDGE_NAMESPACE = 'edges';

/** Describes how to run an ingress controller. */
export interface EdgeRecipe {
  readonly parts: readonly Part[];
  /** Part with the programs that the edge expects on its PATH. */
  readonly tools?: DebianPart;
  /** Returns the folders with the CRDs that the management cluster must have. */
  readonly definitions?: () => readonly string[];
  /** Objects that must exist in the management cluster when the edge starts. */
  readonly objects: readonly object[];
  /** Starts the programs; they need not be ready when this returns. */
  start(context: EdgeContext): Promise<void>;
  /** Returns the object that passes connections for a host name through to a Service. */
  route(route: Route): object;
}

/** Host and files of an edge. */
export interface EdgeContext {
  readonly host: Host;
  readonly address: string;
  /** Path of the management cluster's kubeconfig on the host. */
  readonly kubeconfig: string;
  /** Folder for the files of this edge. */
  readonly folder: string;
}

/** A route from a host name to a port of a Service, with TLS passthrough. */
export interface Route {
  readonly host: string;
  readonly namespace: string;
  readonly service: string;
  readonly port: number;
}
