import { describe, expect, setDefaultTimeout, spyOn, test } from 'bun:test';
import { systemClock } from '../../clock/clock.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import { keyText, objectText } from '../../kube/object.ts';
import { RESOURCES, type Resource } from '../../kube/resource.ts';
import { MemoryApiServer } from '../../kube/testing/memory/memory-api-server.ts';
import { PROVIDER_RESOURCES } from '../../providers/provider-resources.ts';
import { newTenantControlPlane } from '../../providers/testing/provider-objects.ts';
import { tenantRoute } from '../../plan/testing/tenant-routes.ts';
import { createLogger } from '../../telemetry/log.ts';
import { objectOf } from '../testing/objects.ts';
import { until } from '../testing/until.ts';
import { ManagementCluster } from './management-cluster.ts';
import type { ManagementListener } from './management-listener.ts';

setDefaultTimeout(240_000);

const HOST = 'blue.example.test';

const ignore = () => {};

const IGNORING: ManagementListener = {
  onExposure: ignore,
  onEdge: ignore,
  onService: ignore,
  onOwnedObject: ignore,
  onTenantRoute: ignore,
  onForeignRoute: ignore,
  onNamespace: ignore,
  onEdgeSetting: ignore,
  onProviderObject: ignore,
  onDiscoveryChange: ignore,
};

/** A watched cluster, and the events of its listener, in order. */
class ManagementLab implements AsyncDisposable {
  readonly server: MemoryApiServer;
  readonly user: KubeClient;
  readonly cluster: ManagementCluster;
  readonly events: string[] = [];
  readonly #ended = new AbortController();

  private constructor(server: MemoryApiServer) {
    this.server = server;
    this.user = server.client({ fieldManager: 'user' });
    this.cluster = new ManagementCluster({
      clock: systemClock,
      random: Math.random,
      client: server.client(),
      freshMs: 1000,
      log: createLogger({ level: 'error', write: () => {} }),
    });
  }

  readonly #listener: ManagementListener = {
    onExposure: (object, previous) =>
      this.events.push(`${objectText(object)}${previous === undefined ? '' : ' changed'}`),
    onEdge: (object) => this.events.push(objectText(object)),
    onService: (key) => this.events.push(`Service ${keyText(key)}`),
    onOwnedObject: (exposure) => this.events.push(`owned by ${keyText(exposure)}`),
    onTenantRoute: ({ metadata }) => this.events.push(`TenantRoute ${keyText(metadata)}`),
    onForeignRoute: (object) => this.events.push(`foreign ${hostIn(object)}`),
    onNamespace: (name) => this.events.push(`Namespace ${name}`),
    onEdgeSetting: (object) => this.events.push(`setting ${object.metadata.name}`),
    onProviderObject: ({ metadata }) => this.events.push(`provider object ${keyText(metadata)}`),
    onDiscoveryChange: () => this.events.push('served'),
  };

  static async start(...more: readonly Resource[]): Promise<ManagementLab> {
    const server = await MemoryApiServer.start({
      resources: [...Object.values(RESOURCES), ...more],
    });
    server.seed(objectOf('Namespace', { name: 'tenants', labels: { team: 'a' } }));
    const lab = new ManagementLab(server);
    await lab.cluster.open(lab.#listener, lab.#ended.signal);
    lab.events.length = 0;
    return lab;
  }

  async untilEvents(...texts: readonly string[]): Promise<void> {
    await until(`reports ${texts.join(', ')}`, () =>
      texts.every((text) => this.events.includes(text)),
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ended.abort();
    await this.server[Symbol.asyncDispose]();
  }
}

function hostIn(object: object): string {
  const { spec } = object as { readonly spec?: { readonly rules?: readonly { host: string }[] } };
  return spec?.rules?.[0]?.host ?? 'none';
}

function ingress(name: string, host: string, metadata: object = {}) {
  const place = { name, namespace: 'tenants', ...metadata };
  return objectOf('Ingress', place, { spec: { rules: [{ host }] } });
}

const OWNER = {
  labels: { 'app.kubernetes.io/managed-by': 'snicket', 'snicket.dev/exposure': 'blue' },
  ownerReferences: [
    { apiVersion: 'snicket.dev/v1alpha1', kind: 'Exposure', name: 'blue', uid: 'uid-of-blue' },
  ],
};

describe.concurrent('a management cluster that is watched', () => {
  test('reports a foreign claim, the previous and the current one', async () => {
    await using lab = await ManagementLab.start();
    await lab.user.create(RESOURCES.ingress, ingress('shop', 'old.example.test'));
    await lab.untilEvents('foreign old.example.test');
    lab.events.length = 0;

    await lab.user.patch(RESOURCES.ingress, { name: 'shop', namespace: 'tenants' }, 'merge', {
      spec: { rules: [{ host: 'new.example.test' }] },
    });

    await lab.untilEvents('foreign new.example.test', 'foreign old.example.test');
  });

  test('finds the objects of an Exposure by their owner and not by their labels', async () => {
    await using lab = await ManagementLab.start();
    const exposure = objectOf('Exposure', {
      name: 'blue',
      namespace: 'tenants',
      uid: 'uid-of-blue',
    });
    const { labels } = OWNER;

    await lab.user.create(RESOURCES.ingress, ingress('ours', 'a.example.test', OWNER));
    await lab.user.create(RESOURCES.ingress, ingress('looks', 'b.example.test', { labels }));

    await lab.untilEvents('owned by tenants/blue', 'foreign b.example.test');
    const made = lab.cluster.ownedBy(exposure).map(({ metadata }) => metadata.name);
    expect(made).toEqual(['ours']);
    const recreated = { ...exposure, metadata: { ...exposure.metadata, uid: 'another' } };
    expect(lab.cluster.ownedBy(recreated)).toEqual([]);
  });

  test('finds the objects of providers that request an Exposure on an Edge', async () => {
    await using lab = await ManagementLab.start(PROVIDER_RESOURCES.kamaji);
    for (const [name, edge] of Object.entries({ blue: 'shared', green: '', red: undefined })) {
      const annotations: Record<string, string> =
        edge === undefined ? {} : { 'snicket.dev/edge': edge };
      const { spec } = newTenantControlPlane('kamaji', name);
      const metadata = { name, namespace: 'tenants', annotations };
      await lab.user.create(PROVIDER_RESOURCES.kamaji, {
        ...objectOf('TenantControlPlane', metadata, { spec }),
        apiVersion: PROVIDER_RESOURCES.kamaji.apiVersion,
      });
    }

    await lab.untilEvents(
      'provider object tenants/blue',
      'provider object tenants/green',
      'provider object tenants/red',
    );
    const names = (edge: string) =>
      lab.cluster.objectsRequesting(edge).map(({ metadata }) => metadata.name);
    expect([names('shared'), names(''), names('other')]).toEqual([['blue'], ['green'], []]);
  });

  test('finds the claims of a host, whatever their owner is', async () => {
    await using lab = await ManagementLab.start();
    await lab.user.create(RESOURCES.ingress, ingress('ours', 'a.example.test', OWNER));
    await lab.user.create(RESOURCES.ingress, ingress('wild', '*.example.test'));
    await lab.user.create(RESOURCES.ingress, ingress('other', 'b.example.test'));
    await lab.untilEvents(
      'owned by tenants/blue',
      ...['a', '*', 'b'].map((name) => `foreign ${name}.example.test`),
    );

    const found = lab.cluster.claimants(['a.example.test']);

    expect(found.map(({ metadata }) => metadata.name).toSorted()).toEqual(['ours', 'wild']);
  });

  test('reports an object whose labels were removed', async () => {
    await using lab = await ManagementLab.start();
    await lab.user.create(RESOURCES.ingress, ingress('ours', 'a.example.test', OWNER));
    await lab.untilEvents('owned by tenants/blue');
    lab.events.length = 0;

    await lab.user.patch(RESOURCES.ingress, { name: 'ours', namespace: 'tenants' }, 'merge', {
      metadata: { labels: null, ownerReferences: null },
    });

    await lab.untilEvents('owned by tenants/blue', 'foreign a.example.test');
  });

  test('reports a change of the labels of a namespace, and no other', async () => {
    await using lab = await ManagementLab.start();
    const key = { name: 'tenants' };
    const patch = async (metadata: object) =>
      lab.user.patch(RESOURCES.namespace, key, 'merge', { metadata });

    await patch({ annotations: { note: 'x' } });
    await patch({ labels: { team: 'b' } });

    await until('it is seen', () => lab.cluster.namespaceLabels('tenants')['team'] === 'b');
    expect(lab.events).toEqual(['Namespace tenants']);
  });

  test('drops an own TenantRoute that a list does not have', async () => {
    await using lab = await ManagementLab.start();
    const { tenantRoutes } = lab.cluster;
    const route = tenantRoute('blue', HOST, { name: 'blue-1', uid: '1', resourceVersion: '9999' });
    // Created, and deleted by another client while the watch was broken.
    await tenantRoutes.write(
      async () => route,
      (answer) => answer,
    );
    expect(tenantRoutes.ofHost(HOST)).toEqual([route]);

    lab.server.inject({ kind: 'expired-event' }, { verb: 'watch', plural: 'tenantroutes' });
    lab.server.endWatches();

    await lab.untilEvents('TenantRoute tenants/blue-1');
    expect(tenantRoutes.list()).toEqual([]);
  });

  test('keeps an own TenantRoute that is written during a list', async () => {
    await using lab = await ManagementLab.start();
    const { client, counters, tenantRoutes } = lab.cluster;
    const route = tenantRoute('blue', HOST, { name: 'blue-1', uid: '1', resourceVersion: '9999' });
    const list = client.list.bind(client);
    spyOn(client, 'list').mockImplementation(async (...request) => {
      const answer = await list(...request);
      await tenantRoutes.write(
        async () => route,
        (written) => written,
      );
      return answer;
    });
    const { lists } = counters;

    lab.server.inject({ kind: 'expired-event' }, { verb: 'watch', plural: 'tenantroutes' });
    lab.server.endWatches();

    await until('it is listed again', () => counters.lists > lists);
    expect(tenantRoutes.list()).toEqual([route]);
  });

  test('is waited for at the start', async () => {
    const server = await MemoryApiServer.start();
    await server.goDown();
    const ended = new AbortController();
    const cluster = new ManagementCluster({
      clock: systemClock,
      random: Math.random,
      client: server.client(),
      freshMs: 1000,
      log: createLogger({ level: 'error', write: () => {} }),
    });
    const opening = cluster.open(IGNORING, ended.signal);

    await server.comeUp();
    await opening;

    expect(cluster.served.has(RESOURCES.ingress)).toBe(true);
    ended.abort();
    await server[Symbol.asyncDispose]();
  });
});

test('a kind that has not been read yet is unknown, although nothing has failed', async () => {
  await using server = await MemoryApiServer.start();
  server.inject({ kind: 'hang' }, { verb: 'list', plural: 'ingresses' }, 1);
  const cluster = new ManagementCluster({
    clock: systemClock,
    random: Math.random,
    client: server.client(),
    freshMs: 1000,
    log: createLogger({ level: 'error', write: ignore }),
  });
  const ended = new AbortController();
  const opening = cluster.open(IGNORING, ended.signal).catch(() => {}); // until it is ended

  await until('it is reported', () => cluster.readErrorOf(RESOURCES.ingress));

  expect(cluster.readErrorOf(RESOURCES.ingress)?.message).toBe('ingresses are not read yet');
  await until('all others are read', () => cluster.readErrorOf(RESOURCES.tlsRoute) === undefined);
  ended.abort();
  await opening;
});

test('a TenantRoute is reported with its previous version if another client changes its host', async () => {
  await using lab = await ManagementLab.start();
  const route = tenantRoute('blue', 'blue.test');
  const { name, namespace } = route.metadata;
  const key = { name, namespace: namespace ?? '' };
  await lab.user.create(RESOURCES.tenantRoute, route);
  await until('it is known', () => lab.cluster.tenantRoutes.ofHost('blue.test').length === 1);
  lab.events.length = 0;

  await lab.user.patch(RESOURCES.tenantRoute, key, 'merge', { spec: { host: 'red.test' } });
  await until('the host is known', () => lab.cluster.tenantRoutes.ofHost('red.test').length === 1);

  expect(lab.events).toEqual([`TenantRoute ${keyText(key)}`, `TenantRoute ${keyText(key)}`]);
});
