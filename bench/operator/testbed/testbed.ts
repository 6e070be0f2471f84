/** The interface of a testbed: a management cluster, and a network for all programs. */
import type { KubeClient } from '../../../src/kube/client/client.ts';
import type { Requests } from '../request-counts.ts';

/** The commands of Snicket on a testbed. */
export type Role = 'operator' | 'gateway';

/** A running program. */
export interface Running {
  /** PID on the machine. */
  readonly pid: number;
  readonly isRunning: boolean;
  /** The last lines of its log. */
  tail(lines?: number): string;
  /** Stops it gracefully and waits. */
  end(): Promise<void>;
}

/** A testbed for the bench. */
export interface Testbed extends AsyncDisposable {
  /** Description of the management cluster, for the report. */
  readonly title: string;
  /** A client with administrator permissions in the management cluster. */
  readonly client: KubeClient;
  /** The first two bytes of the tenants' addresses. */
  readonly tenantPrefix: string;
  /** Address of the gateway. */
  readonly edge: { readonly address: string; readonly port: number };
  /** Address of the operator's metrics. */
  readonly operatorHttp: { readonly address: string; readonly port: number };
  /** Returns the path of a role's kubeconfig. */
  kubeconfig(role: Role): string;
  /** Adds DNS records that point the hosts to the edge, if the testbed has DNS. */
  pointToEdge(hosts: readonly string[]): void;
  /** Starts a program in the network of the testbed. */
  start(name: Role | `tenants-${number}`, argv: readonly string[]): Promise<Running>;
  /** Returns the requests of a role to the management cluster so far. */
  requestsOf(role: Role): Promise<Requests>;
}

/** The operator's own namespace. */
export const SYSTEM_NAMESPACE = 'snicket-system';
