import { afterEach, beforeEach, expect, test } from 'bun:test';
import { ManualClock } from '../../clock/manual-clock.ts';
import { createLogger } from '../../telemetry/log.ts';
import type { KubeClient } from '../client/client.ts';
import { LeaderElection } from './leader-election.ts';
import type { Lease } from './lease.ts';
import { RESOURCES } from '../resource.ts';
import { MemoryApiServer } from '../testing/memory/memory-api-server.ts';
import { until } from '../testing/contract/until.ts';

const lease = { name: 'operator', namespace: 'default' };
let server: MemoryApiServer;
let open: Candidate[];

beforeEach(async () => {
  server = await MemoryApiServer.start();
  open = [];
});

afterEach(async () => {
  server.clearFaults();
  for (const candidate of open) await candidate.end();
  await server[Symbol.asyncDispose]();
});

/** A participant with a separate clock. */
class Candidate {
  readonly clock = new ManualClock();
  readonly log: string[] = [];
  readonly election: LeaderElection;
  /** How often it started to lead, and how often it stopped. */
  readonly terms = { begun: 0, ended: 0 };
  /** What `lead` waits for after its signal has aborted. */
  windDown: Promise<void> = Promise.resolve();
  readonly #client = new CountingClient(server.client());
  readonly leaderClient: KubeClient;
  readonly #stop = new AbortController();
  readonly #running: Promise<void>;

  constructor(identity: string, wallMs = Date.now()) {
    this.election = new LeaderElection({
      client: this.#client.client,
      lease,
      identity,
      clock: this.clock,
      logger: createLogger({ write: (line) => this.log.push(line) }),
      now: () => new Date(wallMs + this.clock.nowMs()),
    });
    this.leaderClient = this.election.leaderClient();
    this.#running = this.election.run(async (signal) => {
      this.terms.begun++;
      await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
      await this.windDown;
      this.terms.ended++;
    }, this.#stop.signal);
    open.push(this);
  }

  /** Advances the clock, but no faster than the server responds, since the machine may be busy. */
  async pass(ms: number, { isServerDeaf = false } = {}): Promise<void> {
    for (let passed = 0; passed < ms; passed += 100) {
      this.clock.advance(100);
      await settled();
      while (!isServerDeaf && this.#client.open > 0) await Bun.sleep(1);
    }
  }

  /** Performs a write as the leader. */
  async write(name: string): Promise<void> {
    const metadata = { name, namespace: 'default' };
    const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata };
    await this.leaderClient.create(RESOURCES.configMap, object);
  }

  async leads(): Promise<void> {
    await until('it leads', async () => {
      if (!this.election.isLeader) await this.pass(100);
      return this.election.isLeader;
    });
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  /** Stops, even while it waits. */
  async end(): Promise<void> {
    let hasEnded = false;
    void this.stop().then(() => (hasEnded = true));
    await until('it has ended', async () => {
      this.clock.advance(100);
      return hasEnded;
    });
  }
}

/** A client that counts its pending calls. */
class CountingClient {
  open = 0;
  readonly client: KubeClient;

  constructor(client: KubeClient) {
    const count = async <T>(call: Promise<T>): Promise<T> => {
      this.open++;
      try {
        return await call;
      } finally {
        // Only after the code that awaits the response has continued.
        void settled().then(() => this.open--);
      }
    };
    this.client = {
      ...client,
      get: async (...args) => count(client.get(...args)),
      create: async (...args) => count(client.create(...args)),
      replace: async (...args) => count(client.replace(...args)),
    };
  }
}

/** Waits until all pending promise reactions have run. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 50; turn++) await Promise.resolve();
}

function currentLease(): Lease['spec'] {
  return (server.read(RESOURCES.lease, lease) as Lease | undefined)?.spec;
}

test('leads without rivals, and renews the Lease', async () => {
  const a = new Candidate('a');
  await a.leads();
  const first = currentLease();

  await a.pass(20_000);

  expect(a.terms).toEqual({ begun: 1, ended: 0 });
  expect(currentLease()).toMatchObject({
    holderIdentity: 'a',
    leaseDurationSeconds: 15,
    leaseTransitions: 0,
  });
  expect(currentLease()?.acquireTime).toBe(first?.acquireTime ?? '');
  expect(currentLease()?.renewTime).not.toBe(first?.renewTime ?? '');
});

test('waits while another process renews, whatever its clock says', async () => {
  const a = new Candidate('a', Date.now() - 3_600_000);
  await a.leads();
  const b = new Candidate('b', Date.now() + 3_600_000);

  for (let second = 0; second < 40; second++) {
    await a.pass(1_000);
    await b.pass(1_000);
  }

  expect(a.election.isLeader).toBe(true);
  expect(b.election.isLeader).toBe(false);
  expect(b.election.currentLeader).toBe('a');
});

test('takes over when the Lease was not renewed for its duration, and no sooner', async () => {
  const a = new Candidate('a');
  await a.leads();
  const b = new Candidate('b');
  await until('b has read the Lease', () => b.election.currentLeader === 'a');

  await b.pass(14_500);
  expect(b.election.isLeader).toBe(false);
  await b.pass(2_000);

  await until('b leads', () => b.election.isLeader);
  expect(currentLease()).toMatchObject({ holderIdentity: 'b', leaseTransitions: 1 });
});

test('takes over within a second of a release', async () => {
  const a = new Candidate('a');
  await a.leads();
  const b = new Candidate('b');
  await until('b has read the Lease', () => b.election.currentLeader === 'a');

  await a.stop();
  expect(currentLease()?.holderIdentity).toBe('');
  await b.pass(1_100);

  await until('b leads', () => b.election.isLeader);
});

test('renews until its work has ended, and releases the Lease only then', async () => {
  const a = new Candidate('a');
  const { promise, resolve } = Promise.withResolvers<void>();
  a.windDown = promise;
  await a.leads();
  const before = currentLease()?.renewTime;

  const stopped = a.stop();
  await a.pass(4_000);
  expect(currentLease()?.holderIdentity).toBe('a');
  expect(currentLease()?.renewTime).not.toBe(before!);
  resolve();
  await stopped;

  expect(a.terms.ended).toBe(1);
  expect(currentLease()?.holderIdentity).toBe('');
});

test('stops before another process may take over if the server is unreachable, and leads again afterwards', async () => {
  const a = new Candidate('a');
  await a.leads();
  await server.goDown();

  await a.pass(9_500);
  expect(a.election.isLeader).toBe(true);
  await a.pass(600);
  await until('a has stopped', () => a.terms.ended === 1);
  expect(a.election.isLeader).toBe(false);
  expect(a.log.join('')).toContain('lost the Lease');

  await server.comeUp();
  await a.leads();
  expect(a.terms.begun).toBe(2);
});

test('allows writes only to the leader', async () => {
  const a = new Candidate('a');
  const b = new Candidate('b');
  await a.leads();

  await a.write('of-a');
  await expect(b.write('of-b')).rejects.toMatchObject({ reason: 'Aborted' });
  await a.stop();
  await expect(a.write('late')).rejects.toMatchObject({ reason: 'Aborted' });

  const { items } = await server.client().list(RESOURCES.configMap);
  expect(items.map(({ metadata }) => metadata.name)).toEqual(['of-a']);
});

test('allows no write after the renew deadline, even before a timer has fired', async () => {
  const a = new Candidate('a');
  const written: unknown[] = [];
  // This timer is the first, so it runs before those of the election.
  a.clock.after(60_000, () => written.push(a.write('late').catch((error: unknown) => error)));
  await a.leads();

  // The process is frozen, and resumes a minute later.
  a.clock.advance(60_000);

  expect(await Promise.all(written)).toMatchObject([{ reason: 'Aborted' }]);
});

test('stops in time when the server hangs', async () => {
  const a = new Candidate('a');
  await a.leads();
  server.inject({ kind: 'hang' }, { plural: 'leases' }, Infinity);

  await a.pass(10_200, { isServerDeaf: true });

  await until('a has stopped', () => a.terms.ended === 1);
  // The release times out too.
  await a.pass(2_100, { isServerDeaf: true });
});

test('retries in time if a response does not arrive', async () => {
  const a = new Candidate('a');
  await a.leads();
  const before = currentLease()?.renewTime;
  server.inject({ kind: 'hang' }, { plural: 'leases' }, 1);
  const asked = server.requests().length;

  await a.pass(2_100, { isServerDeaf: true });
  // A request that is canceled on its way would leave the fault to the next one.
  await until('the server was asked', () => server.requests().length > asked);
  await a.pass(5_300, { isServerDeaf: true });
  await until('it is renewed', async () => {
    await a.pass(100);
    return currentLease()?.renewTime !== before;
  });

  expect(a.clock.nowMs()).toBeLessThan(10_000);
  expect(a.terms).toEqual({ begun: 1, ended: 0 });
});

test('keeps the Lease if the server fails for a moment', async () => {
  const a = new Candidate('a');
  await a.leads();
  server.inject({ kind: 'error', status: 500, reason: 'InternalError' }, { plural: 'leases' }, 2);

  await a.pass(10_000);

  expect(a.terms).toEqual({ begun: 1, ended: 0 });
  expect(a.log.join('')).toContain('failed to acquire or renew the Lease');
});

test('stops at once if another process has taken the Lease', async () => {
  const a = new Candidate('a');
  await a.leads();
  const patch = { spec: { holderIdentity: 'thief' } };
  await server.client().patch(RESOURCES.lease, lease, 'merge', patch);

  await a.pass(2_100);

  await until('a has stopped', () => a.terms.ended === 1);
  expect(a.election.currentLeader).toBe('thief');
  expect(currentLease()?.holderIdentity).toBe('thief');
});

test('elects one leader among many', async () => {
  const all = ['a', 'b', 'c', 'd'].map((identity) => new Candidate(identity));

  await until('one of them leads', () => all.some(({ election }) => election.isLeader));
  for (const candidate of all) await candidate.pass(3_000);

  expect(all.filter(({ election }) => election.isLeader)).toHaveLength(1);
});

test('releases the Lease if it is stopped while it acquires it', async () => {
  server.inject({ kind: 'slow', pieces: 2, pauseMs: 30 }, { verb: 'create' });
  const a = new Candidate('a');
  await until('the Lease is created', () => currentLease()?.holderIdentity === 'a');

  await a.stop();

  expect(a.terms.begun).toBe(0);
  expect(currentLease()?.holderIdentity).toBe('');
});

test('releases the Lease and fails if its work fails', async () => {
  const election = new LeaderElection({
    client: server.client(),
    lease,
    identity: 'a',
    clock: new ManualClock(),
    logger: createLogger({ write: () => {} }),
  });

  const running = election.run(async () => {
    throw new Error('broken');
  }, new AbortController().signal);

  await expect(running).rejects.toThrow('broken');
  expect(currentLease()?.holderIdentity).toBe('');
});
