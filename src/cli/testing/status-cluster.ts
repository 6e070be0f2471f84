/**
 * For tests only: a management cluster for `snicket status`, with an Edge, an operator, and Exposures in two
 * namespaces: in `other` all are healthy, in `tenants` one is broken.
 */
import type { KubeClient } from '../../kube/client/client.ts';
import { createClient } from '../../kube/client/fetch-client.ts';
import { RESOURCES } from '../../kube/resource.ts';
import { TestApiServer } from '../../kube/testing/api-server.ts';
import { objectOf } from '../../operator/testing/objects.ts';
import { PROVIDER_RESOURCES } from '../../providers/provider-resources.ts';
import { Terminal } from './snicket.ts';

/** Time of the last transition of all conditions. */
export const SINCE = '2026-03-02T08:00:00Z';
/** What is wrong with `tenants/red`. */
export const NO_ADDRESS = 'tenants-red.k8s.example.test has no address';
/** What to do about it. */
export const TO_DO =
  'Add a DNS record for tenants-red.k8s.example.test that points to 203.0.113.10.';

const TYPES = ['Accepted', 'Prepared', 'Routed', 'WorkersReady', 'KonnectivityReady', 'Reachable'];

/** The status of a healthy Exposure. */
export const READY = {
  edgeRef: { name: 'shared' },
  driver: 'snicket',
  mode: 'Passthrough',
  observedGeneration: 1,
  proxies: { ready: 12, desired: 12, summary: '12/12' },
  conditions: [...TYPES, 'Ready'].map((type) => condition(type, 'True', type, 'it is so')),
  hops: [{ name: 'dns', state: 'Pass', reason: 'Passed', message: 'found', at: SINCE }],
};

const BROKEN = {
  ...READY,
  conditions: [
    ...TYPES.slice(0, -1).map((type) => condition(type, 'True', type, 'it is so')),
    condition('Reachable', 'False', 'DnsNoAnswer', `${NO_ADDRESS}; ${TO_DO}`),
    condition('Ready', 'False', 'DnsNoAnswer', `${NO_ADDRESS}; ${TO_DO}`),
  ],
  hops: [
    {
      name: 'dns',
      state: 'Fail',
      reason: 'DnsNoAnswer',
      at: SINCE,
      message: NO_ADDRESS,
      action: TO_DO,
    },
    { name: 'edge', state: 'Skip', reason: 'DnsFailed', message: 'not tried', at: SINCE },
  ],
};

/** Returns a condition of an Edge or an Exposure. */
export function condition(type: string, status: string, reason: string, message: string): object {
  return { type, status, reason, message, lastTransitionTime: SINCE, observedGeneration: 1 };
}

/** The cluster, and a terminal whose kubeconfig points to it. */
export class StatusCluster implements AsyncDisposable {
  readonly server: TestApiServer;
  readonly client: KubeClient;
  readonly terminal: Terminal;

  private constructor(server: TestApiServer) {
    this.server = server;
    this.client = createClient(server.access);
    this.terminal = new Terminal(server);
  }

  /** Starts the cluster with these objects. */
  static async start(): Promise<StatusCluster> {
    const cluster = new StatusCluster(
      await TestApiServer.start({
        resources: [...Object.values(RESOURCES), PROVIDER_RESOURCES.deployment],
      }),
    );
    for (const name of ['tenants', 'other', 'snicket-system']) {
      cluster.server.seed(objectOf('Namespace', { name }));
    }
    await cluster.#addEdge();
    cluster.addExposure('tenants/blue');
    await cluster.report('Exposure', 'tenants/blue', READY);
    cluster.addExposure('tenants/red');
    await cluster.report('Exposure', 'tenants/red', BROKEN);
    cluster.addExposure('other/green');
    await cluster.report('Exposure', 'other/green', READY);
    await cluster.#runOperator();
    return cluster;
  }

  /** Adds an Exposure that no operator has observed. */
  addExposure(key: string): void {
    const [namespace = '', name = ''] = key.split('/');
    const controlPlane = {
      type: 'Service',
      service: { name },
      caSecretRef: { name: 'ca' },
      kubeconfigSecretRef: { name: 'kubeconfig' },
    };
    this.server.seed(objectOf('Exposure', { name, namespace }, { spec: { controlPlane } }));
  }

  /** Writes a status, as the operator does. */
  async report(kind: 'Edge' | 'Exposure', key: string, status: object): Promise<void> {
    const [name = '', namespace] = key.split('/').toReversed();
    const resource = kind === 'Edge' ? RESOURCES.edge : RESOURCES.exposure;
    const options = { subresource: 'status' } as const;
    await this.client.patch(resource, { name, namespace }, 'merge', { status }, options);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.terminal[Symbol.dispose]();
    await this.server[Symbol.asyncDispose]();
  }

  async #addEdge(): Promise<void> {
    const spec = { driver: 'snicket', domain: 'example.test' };
    const annotations = { 'snicket.dev/is-default': 'true' };
    this.server.seed(objectOf('Edge', { name: 'shared', annotations }, { spec }));
    await this.report('Edge', 'shared', {
      addresses: ['203.0.113.10', '2001:db8::10'],
      exposures: 2,
      conditions: [condition('Ready', 'True', 'Ready', 'the edge takes routes')],
    });
  }

  async #runOperator(): Promise<void> {
    const metadata = { name: 'snicket-operator', namespace: 'snicket-system' };
    const args = ['operator', '--leader-elect'];
    this.server.seed({
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata,
      spec: { replicas: 2, template: { spec: { containers: [{ args }] } } },
    });
    const status = { readyReplicas: 2 };
    const options = { subresource: 'status' } as const;
    await this.client.patch(PROVIDER_RESOURCES.deployment, metadata, 'merge', { status }, options);
    const renewTime = new Date(Date.now() + 3_600_000).toISOString();
    const spec = { holderIdentity: 'snicket-operator-7d_1', leaseDurationSeconds: 7200, renewTime };
    this.server.seed(objectOf('Lease', metadata, { spec }));
  }
}
