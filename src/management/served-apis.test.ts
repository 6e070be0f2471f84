import { expect, test } from 'bun:test';
import { KubeError } from '../kube/kube-error.ts';
import type { KubeClient } from '../kube/client/client.ts';
import { RESOURCES } from '../kube/resource.ts';
import { PROVIDER_RESOURCES } from '../providers/provider-resources.ts';
import { servedKinds, ServedBook } from './served-apis.ts';

const { signal } = new AbortController();
const GROUP = 'k0smotron.io/v1beta1';

/** A server that serves one kind, in its older version, and fails so often before it says so. */
function serverThatFails(times: number, asked: string[]): KubeClient {
  let left = times;
  const client: Pick<KubeClient, 'servedPlurals'> = {
    servedPlurals: async (apiVersion) => {
      asked.push(apiVersion);
      if (apiVersion !== GROUP) return new Set();
      if (left-- > 0) throw new KubeError('Unreachable', 'down');
      return new Set(['clusters']);
    },
  };
  return client as KubeClient;
}

test('of a kind that is served in an older version only, that one is watched', async () => {
  const book = new ServedBook();

  const { isChanged, error } = await book.refresh(serverThatFails(0, []), signal);

  expect([isChanged, error]).toEqual([true, undefined]);
  expect(servedKinds(book)).toEqual([{ ...PROVIDER_RESOURCES.k0smotron, apiVersion: GROUP }]);
});

test('a server that fails now and then is asked again only what it has not answered', async () => {
  const book = new ServedBook();
  const asked: string[] = [];
  const client = serverThatFails(2, asked);
  const outcome = async () => book.refresh(client, signal).catch(() => 'failed');
  expect(await outcome()).toBe('failed');
  asked.length = 0;

  const outcomes = [await outcome(), await outcome()];

  expect(outcomes).toEqual(['failed', { isChanged: true, error: undefined }]);
  expect(asked).toEqual([GROUP, GROUP]);
});

test('of a group that does not answer the last answer stays, and the news of all others counts', async () => {
  const book = new ServedBook();
  const failing = new Set<string>();
  const served = new Map([
    [GROUP, 'clusters'],
    ['networking.k8s.io/v1', 'ingresses'],
  ]);
  const client: Pick<KubeClient, 'servedPlurals'> = {
    servedPlurals: async (apiVersion) => {
      if (failing.has(apiVersion)) throw new KubeError('Unreachable', 'down');
      return new Set([served.get(apiVersion) ?? []].flat());
    },
  };
  await book.refresh(client as KubeClient, signal);

  failing.add(GROUP);
  served.set('networking.k8s.io/v1', 'ingressclasses');
  const look = await book.refresh(client as KubeClient, signal);

  expect(look).toMatchObject({ isChanged: true, error: { message: 'down' } });
  expect(servedKinds(book)).toEqual([
    RESOURCES.ingressClass,
    { ...PROVIDER_RESOURCES.k0smotron, apiVersion: GROUP },
  ]);

  failing.clear();
  served.delete(GROUP);

  expect(await book.refresh(client as KubeClient, signal)).toEqual({
    isChanged: true,
    error: undefined,
  });
  expect(servedKinds(book)).toEqual([RESOURCES.ingressClass]);
});
