import { expect, test } from 'bun:test';
import { KubeError } from '../kube/kube-error.ts';
import type { KubeClient } from '../kube/client/client.ts';
import { RESOURCES } from '../kube/resource.ts';
import { PROVIDER_RESOURCES } from '../providers/provider-resources.ts';
import { discoveredKinds, ApiDiscovery } from './api-discovery.ts';

const { signal } = new AbortController();
const GROUP = 'k0smotron.io/v1beta1';

/** A server that serves one kind, in an older version, and fails this many times before it answers. */
function failingServer(times: number, requested: string[]): KubeClient {
  let left = times;
  const client: Pick<KubeClient, 'discoverPlurals'> = {
    discoverPlurals: async (apiVersion) => {
      requested.push(apiVersion);
      if (apiVersion !== GROUP) return new Set();
      if (left-- > 0) throw new KubeError('Unreachable', 'down');
      return new Set(['clusters']);
    },
  };
  return client as KubeClient;
}

test('watches the older version of a kind if only that is served', async () => {
  const discovery = new ApiDiscovery();

  const { isChanged, error } = await discovery.refresh(failingServer(0, []), signal);

  expect([isChanged, error]).toEqual([true, undefined]);
  expect(discoveredKinds(discovery)).toEqual([
    { ...PROVIDER_RESOURCES.k0smotron, apiVersion: GROUP },
  ]);
});

test('retries only the groups that have not been answered', async () => {
  const discovery = new ApiDiscovery();
  const requested: string[] = [];
  const client = failingServer(2, requested);
  const outcome = async () => discovery.refresh(client, signal).catch(() => 'failed');
  expect(await outcome()).toBe('failed');
  requested.length = 0;

  const outcomes = [await outcome(), await outcome()];

  expect(outcomes).toEqual(['failed', { isChanged: true, error: undefined }]);
  expect(requested).toEqual([GROUP, GROUP]);
});

test('keeps the last answer of a group that fails, and updates the others', async () => {
  const discovery = new ApiDiscovery();
  const failing = new Set<string>();
  const served = new Map([
    [GROUP, 'clusters'],
    ['networking.k8s.io/v1', 'ingresses'],
  ]);
  const client: Pick<KubeClient, 'discoverPlurals'> = {
    discoverPlurals: async (apiVersion) => {
      if (failing.has(apiVersion)) throw new KubeError('Unreachable', 'down');
      return new Set([served.get(apiVersion) ?? []].flat());
    },
  };
  await discovery.refresh(client as KubeClient, signal);

  failing.add(GROUP);
  served.set('networking.k8s.io/v1', 'ingressclasses');
  const result = await discovery.refresh(client as KubeClient, signal);

  expect(result).toMatchObject({ isChanged: true, error: { message: 'down' } });
  expect(discoveredKinds(discovery)).toEqual([
    RESOURCES.ingressClass,
    { ...PROVIDER_RESOURCES.k0smotron, apiVersion: GROUP },
  ]);

  failing.clear();
  served.delete(GROUP);

  expect(await discovery.refresh(client as KubeClient, signal)).toEqual({
    isChanged: true,
    error: undefined,
  });
  expect(discoveredKinds(discovery)).toEqual([RESOURCES.ingressClass]);
});
