import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import { ManualClock } from '../../clock/manual-clock.ts';
import type { OwnerReference } from '../../kube/object.ts';
import { RESOURCES } from '../../kube/resource.ts';
import { MemoryApiServer } from '../../kube/testing/memory/memory-api-server.ts';
import type { Secret } from '../../providers/reading/control-plane-reading.ts';
import type { RenewableSecret } from '../../providers/reading/renewable-secrets.ts';
import {
  NAMESPACE,
  readyTenantControlPlane,
  secretOf,
} from '../../providers/testing/provider-objects.ts';
import { SecretRenewals, type StaleSecrets, type Renewal } from './secret-renewals.ts';

setDefaultTimeout(240_000);

const OWNER = readyTenantControlPlane('kamaji', 'blue');
const KEY = { name: 'blue-api-server-certificate', namespace: NAMESPACE };
const OWNED: OwnerReference = {
  apiVersion: OWNER.apiVersion,
  kind: OWNER.kind,
  name: 'blue',
  uid: 'uid-of-blue',
  controller: true,
};
const AFTER_MS = 20_000;

/** A server with one Secret that is out of date, and its renewals. */
class Lab implements AsyncDisposable {
  readonly clock = new ManualClock();
  readonly renewals: SecretRenewals;
  readonly stale: StaleSecrets = new Map();
  readonly server: MemoryApiServer;

  private constructor(server: MemoryApiServer) {
    this.server = server;
    const client = server.client();
    const read = async () => client.get<Secret>(RESOURCES.secret, KEY);
    const management = { client, secret: read, currentSecret: read };
    this.renewals = new SecretRenewals({ management, clock: this.clock, renewAfterMs: AFTER_MS });
  }

  static async start(ownerReferences: readonly OwnerReference[] = [OWNED]): Promise<Lab> {
    const lab = new Lab(await MemoryApiServer.start());
    lab.server.seed({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } });
    lab.make('stale', ownerReferences);
    return lab;
  }

  /** As the provider does. */
  make(text: string, ownerReferences: readonly OwnerReference[] = [OWNED]): void {
    const secret = secretOf(KEY.name, { 'apiserver.crt': text });
    this.server.seed({ ...secret, metadata: { ...KEY, ownerReferences } });
  }

  get isThere(): boolean {
    return this.server.read(RESOURCES.secret, KEY) !== undefined;
  }

  forbid(): void {
    const refusal = { kind: 'error', status: 403, reason: 'Forbidden' } as const;
    this.server.inject(refusal, { verb: 'delete', plural: 'secrets' }, 1);
  }

  async renew(change: Partial<RenewableSecret> = {}, isLast = false): Promise<Renewal> {
    const isStale = ({ data }: Secret) => data?.['apiserver.crt'] === btoa('stale');
    const secret = { key: KEY, owner: OWNER, isNeeded: true, isStale, ...change };
    return this.renewals.renew(this.stale, [secret], {
      isLast,
      signal: AbortSignal.timeout(200_000),
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.server[Symbol.asyncDispose]();
  }
}

describe('a Secret that is out of date', () => {
  test('is deleted after the time that its provider has', async () => {
    await using lab = await Lab.start();

    const first = await lab.renew();

    expect(first).toEqual({ deleted: [], requeueAfterMs: AFTER_MS });
    expect(lab.isThere).toBe(true);

    lab.clock.advance(AFTER_MS);
    const second = await lab.renew();

    expect(second.deleted).toEqual([KEY]);
    expect(lab.isThere).toBe(false);
  });

  test('is kept if its provider creates it again in time', async () => {
    await using lab = await Lab.start();
    await lab.renew();
    await lab.server.client().delete(RESOURCES.secret, KEY);
    lab.make('fresh');

    lab.clock.advance(AFTER_MS);

    expect(await lab.renew()).toEqual({ deleted: [] });
    expect(lab.isThere).toBe(true);
  });

  test('is deleted at once on the last attempt', async () => {
    await using lab = await Lab.start();

    expect((await lab.renew({}, true)).deleted).toEqual([KEY]);
  });

  test('is deleted at once during cleanup, although it was deleted a moment ago', async () => {
    await using lab = await Lab.start();
    await lab.renew();
    lab.clock.advance(AFTER_MS);
    await lab.renew();
    lab.make('stale');

    expect((await lab.renew({}, true)).deleted).toEqual([KEY]);
  });

  test('is deleted with backoff if it is out of date each time', async () => {
    await using lab = await Lab.start();
    let count = 0;

    while (lab.clock.nowMs() < 3_600_000) {
      const { deleted, requeueAfterMs = 1_000 } = await lab.renew();
      count += deleted.length;
      if (deleted.length > 0) lab.make('stale');
      lab.clock.advance(requeueAfterMs);
    }

    expect(count).toBeGreaterThan(5);
    expect(count).toBeLessThan(25);
  });

  test.each([
    ['no owner', []],
    ['another tenant', [{ ...OWNED, uid: 'uid-of-red' }]],
    ['an owner that is not its controller', [{ ...OWNED, controller: false }]],
  ])('is never deleted if it belongs to %s', async (_, owners) => {
    await using lab = await Lab.start(owners);

    await lab.renew();
    lab.clock.advance(AFTER_MS);

    expect(await lab.renew({}, true)).toEqual({ deleted: [] });
    expect(lab.isThere).toBe(true);
  });
});

describe('without permission', () => {
  test('nothing is deleted, and the delete is retried a minute later', async () => {
    await using lab = await Lab.start();
    await lab.renew();
    lab.clock.advance(AFTER_MS);
    lab.forbid();

    expect(await lab.renew()).toEqual({ deleted: [], requeueAfterMs: 60_000 });
    expect(await lab.renew()).toEqual({ deleted: [], requeueAfterMs: 60_000 });
    expect(lab.server.requests().filter(({ verb }) => verb === 'delete')).toHaveLength(1);

    lab.clock.advance(60_000);

    expect((await lab.renew()).deleted).toEqual([KEY]);
  });

  test('a Secret that is not needed causes no requeue', async () => {
    await using lab = await Lab.start();
    const change = { isNeeded: false };
    await lab.renew(change);
    lab.clock.advance(AFTER_MS);
    lab.forbid();

    expect(await lab.renew(change)).toEqual({ deleted: [] });
    expect(await lab.renew(change)).toEqual({ deleted: [] });
  });
});
