import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { ManualClock } from '../../../clock/manual-clock.ts';
import type { KubeClient } from '../../../kube/client/client.ts';
import { KubeError } from '../../../kube/kube-error.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { RESOURCES } from '../../../kube/resource.ts';
import { MemoryApiServer } from '../../../kube/testing/memory/memory-api-server.ts';
import { createLogger } from '../../../telemetry/log.ts';
import { OWNER_LEASE, readOwnerLease, type OwnerLease } from '../../../tenant/owner-lease.ts';
import { TenantOwnership, type AcquireOptions, type Ownership } from './tenant-ownership.ts';

const DURATION_MS = 900_000;
const { signal } = new AbortController();

let server: MemoryApiServer;

beforeEach(async () => {
  server = await MemoryApiServer.start();
});

afterEach(async () => {
  server.clearFaults();
  await server[Symbol.asyncDispose]();
});

/** An operator with the Exposure tenants/blue, and its own clock. */
class Cluster {
  readonly clock = new ManualClock();
  readonly client: KubeClient = server.client();
  readonly scheduled: number[] = [];
  /** Keys that were to be reconciled. */
  readonly changed: string[] = [];
  readonly exposures = new Set(['tenants/blue']);
  readonly ownership: TenantOwnership;

  constructor(id: string) {
    this.ownership = new TenantOwnership({
      clusterId: () => id,
      hasExposure: (key) => this.exposures.has(key),
      durationMs: DURATION_MS,
      schedule: (_key, delayMs) => this.scheduled.push(delayMs),
      onChange: (key) => this.changed.push(key),
      log: createLogger({ write: () => {} }),
      clock: this.clock,
      random: () => 0.5,
    });
  }

  get isOwner(): boolean {
    return this.ownership.isOwned('tenants/blue', this.client);
  }

  async acquire(options: AcquireOptions = {}, key = 'tenants/blue'): Promise<Ownership> {
    return this.ownership.acquire(key, this.client, options, signal);
  }

  async tend(): Promise<void> {
    await this.ownership.tend('tenants/blue', signal);
  }

  async release(): Promise<void> {
    await this.ownership.release('tenants/blue', this.client, signal);
  }
}

function lease(): OwnerLease | undefined {
  const found = server.read(RESOURCES.lease, OWNER_LEASE);
  return found && readOwnerLease(found);
}

async function overwrite(spec: object): Promise<void> {
  await server.client().patch(RESOURCES.lease, OWNER_LEASE, 'merge', { spec });
}

describe('an owner', () => {
  test('keeps the Lease when a read is answered after a later renewal', async () => {
    const a = new Cluster('a');
    await a.acquire();
    const get = a.client.get.bind(a.client);
    const [isRead, mayAnswer] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    a.client.get = async <T extends KubeObject>(...at: Parameters<KubeClient['get']>) => {
      const found = await get<T>(...at);
      isRead.resolve();
      await mayAnswer.promise;
      return found;
    };

    const confirming = a.acquire({ confirm: true });
    await isRead.promise;
    a.clock.advance(DURATION_MS / 2);
    await a.tend();
    mayAnswer.resolve();
    await confirming;
    a.clock.advance(DURATION_MS / 2);
    await a.tend();

    expect(a.changed).toEqual([]);
    expect(a.isOwner).toBe(true);
  });

  test('acquires once, and asks no more while it holds the Lease', async () => {
    const a = new Cluster('a');

    expect(await a.acquire()).toEqual({ kind: 'Owned', isNew: true });
    const asked = server.requests().length;
    expect(await a.acquire()).toEqual({ kind: 'Owned', isNew: false });

    expect(server.requests().length).toBe(asked);
    expect(lease()?.holderIdentity).toBe('a/tenants/blue');
    expect(a.scheduled).toEqual([DURATION_MS / 3]);
  });

  test('renews with one write when it is due, and not before', async () => {
    const a = new Cluster('a');
    await a.acquire();
    a.clock.advance(DURATION_MS / 3 - 1);
    await a.tend();
    expect(server.writes()).toHaveLength(1);

    a.clock.advance(1);
    await a.tend();

    expect(server.writes()).toHaveLength(2);
    a.clock.advance((DURATION_MS * 2) / 3 - 1);
    expect(a.isOwner).toBe(true);
  });

  test('stops writing before any other cluster may begin', async () => {
    const a = new Cluster('a');
    const b = new Cluster('b');
    await a.acquire();
    await b.acquire();

    a.clock.advance((DURATION_MS * 2) / 3);
    b.clock.advance((DURATION_MS * 2) / 3);

    expect(a.isOwner).toBe(false);
    expect(await b.acquire()).toMatchObject({ kind: 'Elsewhere', expiresInMs: DURATION_MS / 3 });
  });

  test('owns the tenant again after a failure if no other cluster has acquired it', async () => {
    const a = new Cluster('a');
    await a.acquire();
    a.clock.advance(100 * DURATION_MS);

    expect(await a.acquire()).toEqual({ kind: 'Owned', isNew: false });

    expect(lease()?.transitions).toBe(0);
  });

  test('repeats a renewal that failed, and gives up when the Lease is no longer valid', async () => {
    const a = new Cluster('a');
    await a.acquire();
    server.inject({ kind: 'error', status: 500, reason: 'InternalError' }, {}, Infinity);
    a.clock.advance(DURATION_MS / 3);

    await a.tend();

    expect(a.isOwner).toBe(true);
    expect(a.ownership.isFailing('tenants/blue')).toBe(true);
    expect(a.scheduled.at(-1)).toBe(DURATION_MS / 15);
    a.clock.advance(DURATION_MS / 3);
    await a.tend();
    expect(a.changed).toEqual(['tenants/blue']);
    expect(a.isOwner).toBe(false);
  });

  test('repeats a renewal whose response was lost, although the Lease was read meanwhile', async () => {
    const a = new Cluster('a');
    await a.acquire();
    const replace = a.client.replace.bind(a.client);
    const [isStored, isLost] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    a.client.replace = async (...lease) => {
      await replace(...lease);
      isStored.resolve();
      await isLost.promise;
      throw new KubeError('Unreachable', 'the connection was closed');
    };
    a.clock.advance(DURATION_MS / 3);

    const renewing = a.tend();
    await isStored.promise;
    await a.acquire({ confirm: true });
    isLost.resolve();
    await renewing;

    expect(a.scheduled).toEqual([DURATION_MS / 3, DURATION_MS / 15]);
    a.client.replace = replace;
    a.clock.advance(DURATION_MS / 15);
    await a.tend();
    expect(a.scheduled.at(-1)).toBe(DURATION_MS / 3);
    expect(a.changed).toEqual([]);
  });

  test('finds at its renewal that another owner has written the Lease', async () => {
    const a = new Cluster('a');
    await a.acquire();
    await overwrite({ holderIdentity: 'b/tenants/blue' });
    a.clock.advance(DURATION_MS / 3);

    await a.tend();

    expect(a.isOwner).toBe(false);
    expect(a.changed).toEqual(['tenants/blue']);
    expect(lease()?.holderIdentity).toBe('b/tenants/blue');
  });

  test('confirms before it writes that the Lease is still its own', async () => {
    const a = new Cluster('a');
    await a.acquire();
    await overwrite({ holderIdentity: 'b/tenants/blue' });

    const confirmed = await a.acquire({ confirm: true });

    expect(confirmed).toMatchObject({ kind: 'Elsewhere', holderIdentity: 'b/tenants/blue' });
    expect(a.isOwner).toBe(false);
  });

  test('goes on with the version of a Lease that something else about it has changed', async () => {
    const a = new Cluster('a');
    await a.acquire();
    const metadata = { annotations: { note: 'x' } };
    await server.client().patch(RESOURCES.lease, OWNER_LEASE, 'merge', { metadata });
    expect(await a.acquire({ confirm: true })).toEqual({ kind: 'Owned', isNew: false });
    a.clock.advance(DURATION_MS / 3);

    await a.tend();

    expect(a.changed).toEqual([]);
    expect(a.isOwner).toBe(true);
  });

  test('does not own the tenant by another client, which may point to another tenant', async () => {
    const a = new Cluster('a');
    await a.acquire();

    expect(a.ownership.isOwned('tenants/blue', server.client())).toBe(false);
  });

  test('deletes its own Lease when it releases it, and no other', async () => {
    const a = new Cluster('a');
    await a.acquire();
    await a.release();
    expect(lease()).toBeUndefined();

    await new Cluster('b').acquire();
    await a.release();

    expect(lease()?.holderIdentity).toBe('b/tenants/blue');
  });

  test('does not begin to own a tenant for an Exposure that is being deleted', async () => {
    const a = new Cluster('a');

    expect(await a.acquire({ beforeWrite: async () => false })).toEqual({ kind: 'Deleting' });

    expect(server.writes()).toEqual([]);
  });
});

describe('another management cluster', () => {
  test('waits for the duration of a Lease that is not renewed, and is called when it is over', async () => {
    const a = new Cluster('a');
    const b = new Cluster('b');
    await a.acquire();
    await b.acquire();
    expect(b.scheduled).toEqual([60_000]);
    b.clock.advance(DURATION_MS - 1);
    await b.tend();
    expect(b.changed).toEqual([]);
    expect(b.scheduled.at(-1)).toBe(1);

    b.clock.advance(1);
    await b.tend();

    expect(b.changed).toEqual(['tenants/blue']);
    expect(await b.acquire()).toEqual({ kind: 'Owned', isNew: true });
    expect(lease()).toMatchObject({ holderIdentity: 'b/tenants/blue', transitions: 1 });
  });

  test('counts from the last renewal that it has seen', async () => {
    const a = new Cluster('a');
    const b = new Cluster('b');
    await a.acquire();
    await b.acquire();
    a.clock.advance(DURATION_MS / 3);
    b.clock.advance(DURATION_MS / 3);
    await a.tend();
    await b.tend();
    b.clock.advance(DURATION_MS - 1);

    expect(await b.acquire()).toMatchObject({ kind: 'Elsewhere', expiresInMs: 1 });
  });

  test('is called when the Lease is deleted', async () => {
    const a = new Cluster('a');
    const b = new Cluster('b');
    await a.acquire();
    await b.acquire();
    await a.release();

    await b.tend();

    expect(b.changed).toEqual(['tenants/blue']);
  });

  test('keeps waiting while the tenant does not answer', async () => {
    const a = new Cluster('a');
    const b = new Cluster('b');
    await a.acquire();
    await b.acquire();
    server.inject({ kind: 'error', status: 500, reason: 'InternalError' });

    await b.tend();

    expect(b.changed).toEqual([]);
    expect(b.scheduled).toEqual([60_000, 60_000]);
  });

  test('does not take over an expired Lease to clean up', async () => {
    const a = new Cluster('a');
    const b = new Cluster('b');
    await a.acquire();
    await b.acquire();
    b.clock.advance(DURATION_MS);

    const owned = await b.acquire({ takesOver: false });

    expect(owned).toEqual({
      kind: 'Elsewhere',
      holderIdentity: 'a/tenants/blue',
      expiresInMs: 0,
    });
  });

  test.each([
    ['there is no Lease', async () => {}],
    [
      'the Lease has expired',
      async () => {
        const gone = new Cluster('gone');
        gone.clock.advance(-10 * DURATION_MS);
        await gone.acquire();
      },
    ],
  ])(
    'is one of many that acquire at once when %s, and one alone succeeds',
    async (_when, before) => {
      await before();
      const all = ['a', 'b', 'c', 'd'].map((id) => new Cluster(id));

      const results = await Promise.all(all.map(async (cluster) => cluster.acquire()));

      expect(results.filter(({ kind }) => kind === 'Owned')).toHaveLength(1);
      expect(all.filter(({ isOwner }) => isOwner)).toHaveLength(1);
    },
  );
});

describe('another Exposure of the same management cluster', () => {
  test('is refused at once, even if the Lease has expired', async () => {
    const a = new Cluster('a');
    await a.acquire();
    a.exposures.add('tenants/copy');
    a.clock.advance(100 * DURATION_MS);

    expect(await a.acquire({}, 'tenants/copy')).toEqual({ kind: 'Here', exposure: 'tenants/blue' });
  });

  test('is called when the first is gone without releasing the Lease', async () => {
    const a = new Cluster('a');
    await a.acquire();
    await a.acquire({}, 'tenants/copy');
    await a.ownership.tend('tenants/copy', signal);
    expect(a.changed).toEqual([]);

    a.exposures.delete('tenants/blue');
    await a.ownership.tend('tenants/copy', signal);

    expect(a.changed).toEqual(['tenants/copy']);
  });

  test('takes over at once from an Exposure that is gone', async () => {
    const a = new Cluster('a');
    await a.acquire();
    a.exposures.delete('tenants/blue');

    expect(await a.acquire({}, 'tenants/copy')).toEqual({ kind: 'Owned', isNew: true });
  });
});

test('a tenant that stores another owner than it was sent is not owned', async () => {
  const a = new Cluster('a');
  const stored = { ...OWNER_LEASE, uid: 'x', resourceVersion: '1' };
  const client: KubeClient = {
    ...a.client,
    get: async () => undefined,
    create: async (_resource, object) => ({ ...object, metadata: stored, spec: {} }),
  };

  const acquiring = a.ownership.acquire('tenants/blue', client, {}, signal);

  await expect(acquiring).rejects.toMatchObject({ reason: 'Malformed' });
  expect(a.ownership.isOwned('tenants/blue', client)).toBe(false);
});
