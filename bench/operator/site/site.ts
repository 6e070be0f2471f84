/** Where the bench takes place: a management cluster, and a network for everything that takes part. */
import type { KubeClient } from '../../../src/kube/client/client.ts';
import type { Requests } from '../request-counts.ts';

/** Who of Snicket runs on a site. */
export type Role = 'operator' | 'gateway';

/** A program that was started. */
export interface Running {
  /** As the machine sees it. */
  readonly pid: number;
  readonly isRunning: boolean;
  /** The last lines of its log. */
  tail(lines?: number): string;
  /** Asks it to end, and waits. */
  end(): Promise<void>;
}

/** A place to measure at. */
export interface Site extends AsyncDisposable {
  /** What the management cluster is, for the report. */
  readonly title: string;
  /** Of an administrator of the management cluster. */
  readonly client: KubeClient;
  /** The first two bytes of the tenants' addresses. */
  readonly tenantPrefix: string;
  /** Where the gateway listens. */
  readonly edge: { readonly address: string; readonly port: number };
  /** Where the operator serves its metrics. */
  readonly operatorHttp: { readonly address: string; readonly port: number };
  /** Path of a kubeconfig. */
  kubeconfig(role: Role): string;
  /** Lets names lead to the edge, where the site has a DNS. */
  name(hosts: readonly string[]): void;
  /** Starts a program in the network of the site. */
  start(name: Role | `tenants-${number}`, argv: readonly string[]): Promise<Running>;
  /** What a role has asked the management cluster for so far. */
  requestsOf(role: Role): Promise<Requests>;
}

/** The operator's own namespace. */
export const SYSTEM = 'snicket-system';
