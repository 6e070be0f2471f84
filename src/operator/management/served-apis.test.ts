import { expect, test } from 'bun:test';
import { KubeError } from '../../kube/kube-error.ts';
import type { KubeClient } from '../../kube/client.ts';
import { PROVIDER_RESOURCES } from '../../providers/provider-resources.ts';
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

  const isChanged = await book.refresh(serverThatFails(0, []), signal);

  expect(isChanged).toBe(true);
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

  expect(outcomes).toEqual(['failed', true]);
  expect(asked).toEqual([GROUP, GROUP]);
});
