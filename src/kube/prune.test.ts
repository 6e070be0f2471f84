import { afterAll, beforeAll, expect, test } from 'bun:test';
import fc from 'fast-check';
import type { KubeClient } from './client.ts';
import { createClient } from './fetch-client.ts';
import type { KubeObject } from './object.ts';
import {
  EXPOSURE_LABEL,
  MANAGED_BY,
  MANAGED_BY_LABEL,
  prune,
  superfluous,
  type Mark,
} from './prune.ts';
import { RESOURCES } from './resource.ts';
import { TestApiServer } from './testing/api-server.ts';

const UID = 'uid-of-blue';
const mark: Mark = { labels: { [EXPOSURE_LABEL]: 'blue' }, owner: { uid: UID } };
const marked = { [MANAGED_BY_LABEL]: MANAGED_BY, [EXPOSURE_LABEL]: 'blue' };
const owners = [{ apiVersion: 'snicket.dev/v1alpha1', kind: 'Exposure', name: 'blue', uid: UID }];

let server: TestApiServer;
let client: KubeClient;

beforeAll(async () => {
  const { configMap, service, namespace, ingress } = RESOURCES;
  server = await TestApiServer.start({ resources: [configMap, service, namespace, ingress] });
  client = createClient(server.access);
});

afterAll(async () => server?.[Symbol.asyncDispose]());

function object(name: string, metadata: Partial<KubeObject['metadata']> = {}, kind = 'ConfigMap') {
  const common = { labels: marked, ownerReferences: owners, namespace: 'default' };
  return { apiVersion: 'v1', kind, metadata: { name, ...common, ...metadata } };
}

test('deletes what is ours and not desired, in all kinds that the server has', async () => {
  server.seed(
    object('old'),
    object('old', {}, 'Service'),
    object('wanted'),
    object('elsewhere', { namespace: 'kube-public' }),
    object('unlabelled', { labels: { [EXPOSURE_LABEL]: 'blue' } }),
    object('of-green', { labels: { ...marked, [EXPOSURE_LABEL]: 'green' } }),
    object('of-an-older-blue', { ownerReferences: [{ ...owners[0]!, uid: 'uid-of-older' }] }),
    object('unowned', { ownerReferences: [] }),
  );
  const before = server.writes().length;

  const deleted = await prune(client, {
    resources: [RESOURCES.configMap, RESOURCES.service, RESOURCES.ingressRouteTcp],
    namespace: 'default',
    mark,
    desired: [object('wanted')],
  });

  const spot = ({ kind, metadata: { name } }: KubeObject) => `${kind} ${name}`;
  expect(deleted.map(spot)).toEqual(['ConfigMap old', 'Service old']);
  expect(
    server
      .writes()
      .slice(before)
      .map(({ verb, plural, name }) => [verb, plural, name]),
  ).toEqual([
    ['delete', 'configmaps', 'old'],
    ['delete', 'services', 'old'],
  ]);
});

test('finds objects without an owner where their owner is elsewhere', async () => {
  server.seed(object('in-tenant', { ownerReferences: [], namespace: 'kube-system' }));

  const deleted = await prune(client, {
    resources: [RESOURCES.configMap],
    namespace: 'kube-system',
    mark: { labels: {}, owner: 'elsewhere' },
    desired: [],
  });

  expect(deleted.map(({ metadata }) => metadata.name)).toEqual(['in-tenant']);
});

test('leaves an object that was made anew between the look and the deletion', async () => {
  const [old] = server.seed(object('reborn', { namespace: 'kube-node-lease' }));
  const key = { name: 'reborn', namespace: 'kube-node-lease' };
  const slow: KubeClient = {
    ...client,
    list: async (resource, options) => {
      const list = await client.list(resource, options);
      await client.delete(RESOURCES.configMap, key);
      server.seed(object('reborn', { namespace: 'kube-node-lease' }));
      return list;
    },
    delete: async (...args) => client.delete(...args),
  };

  const options = {
    resources: [RESOURCES.configMap],
    namespace: 'kube-node-lease',
    mark,
    desired: [],
  };
  const deleted = await prune(slow, options);

  expect(deleted).toEqual([]);
  expect(server.read(RESOURCES.configMap, key)?.metadata.uid).not.toBe(old?.metadata.uid);
});

test('fails when the server does', async () => {
  server.inject({ kind: 'answer', status: 403, reason: 'Forbidden' }, { verb: 'list' });

  const failure = await prune(client, {
    resources: [RESOURCES.configMap],
    mark,
    desired: [],
  }).catch((error: unknown) => error);

  expect(failure).toMatchObject({ reason: 'Forbidden' });
});

test('takes one object in two versions of its group as one', () => {
  const route = {
    ...object('route'),
    apiVersion: 'gateway.networking.k8s.io/v1',
    kind: 'TLSRoute',
  };

  const found = superfluous(
    [route],
    [{ ...route, apiVersion: 'gateway.networking.k8s.io/v1alpha2' }],
    mark,
  );

  expect(found).toEqual([]);
});

test('never finds an object that lacks a label or the owner, or is going', () => {
  const label = fc.constantFrom(MANAGED_BY, 'blue', 'green', 'helm');
  const anything = fc.record({
    name: fc.constantFrom('a', 'b', 'c'),
    labels: fc.record({ [MANAGED_BY_LABEL]: label, [EXPOSURE_LABEL]: label }, { requiredKeys: [] }),
    ownerReferences: fc.subarray([owners[0]!, { ...owners[0]!, uid: 'another' }]),
    deletionTimestamp: fc.option(fc.constant('2026-01-02T03:04:05Z'), { nil: undefined }),
  });
  fc.assert(
    fc.property(fc.array(anything), fc.subarray(['a', 'b', 'c']), (metadata, wanted) => {
      const live = metadata.map((one) => object(one.name, one as Partial<KubeObject['metadata']>));

      const found = superfluous(
        live,
        wanted.map((name) => object(name)),
        mark,
      );

      const expected = live.filter(
        ({ metadata: { name, labels, ownerReferences, deletionTimestamp } }) =>
          !wanted.includes(name) &&
          labels?.[MANAGED_BY_LABEL] === MANAGED_BY &&
          labels[EXPOSURE_LABEL] === 'blue' &&
          ownerReferences?.some(({ uid }) => uid === UID) === true &&
          deletionTimestamp === undefined,
      );
      expect(found).toEqual(expected);
    }),
  );
});
