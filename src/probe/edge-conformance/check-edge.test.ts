import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import { ApiServer } from '../../proxy/testing/api-server.ts';
import { TestAuthority } from '../../proxy/testing/certificates.ts';
import { dialTcp, type Dial } from '../dial.ts';
import { silent } from '../testing/answers.ts';
import type { CheckResult } from './check-result.ts';
import { complaints, EdgeLab, HOST_A, HOST_B } from './testing/edge-lab.ts';
import { FaultyEdge, type EdgeFaults } from './testing/faulty-edge.ts';
import { HttpBackend } from './testing/http-backend.ts';
import { httpSpeaker } from './testing/http-speaker.ts';

setDefaultTimeout(150_000);

/** Limits of a check, each tried if a shorter one was too short for whatever is no fault, as on a busy machine. */
const TIMEOUTS_MS = [800, 4000, 15_000] as const;

/** Checks until there are these complaints and no others; what is really wrong is so within every limit. */
async function expectComplaints(
  codes: readonly string[],
  check: (timeoutMs: number) => Promise<readonly CheckResult[]>,
): Promise<readonly CheckResult[]> {
  let results: readonly CheckResult[] = [];
  for (const timeoutMs of TIMEOUTS_MS) {
    results = await check(timeoutMs);
    if (Bun.deepEquals(complaints(results), codes)) break;
  }
  expect(complaints(results)).toEqual([...codes]);
  return results;
}

test('our own gateway passes every check', async () => {
  await using lab = await EdgeLab.create();
  const { port } = await lab.gateway();

  const results = await lab.check(port, { ca: lab.authorities });

  expect(results.filter(({ state }) => state !== 'Pass')).toEqual([]);
});

test('an edge without a fault passes every check', async () => {
  await using lab = await EdgeLab.create();
  const { port } = await lab.faultyEdge();

  const results = await lab.check(port, { ca: lab.authorities });

  expect(results.filter(({ state }) => state !== 'Pass')).toEqual([]);
});

test('nothing but GET /version is asked, and few times', async () => {
  await using lab = await EdgeLab.create();
  const { port } = await lab.faultyEdge();

  await lab.check(port, { ca: lab.authorities });

  const requests = [...lab.a.requests, ...lab.b.requests];
  expect(new Set(requests)).toEqual(new Set(['1.1 GET /version']));
  expect(requests.length).toBeLessThan(80);
});

// None of these waits for anything, so that time can be plenty: all together take a while on a busy machine.
describe.concurrent('a fault has its code, and no other', () => {
  const faults: readonly (readonly [string, EdgeFaults, readonly string[]])[] = [
    ['leads one host to another', { misroutes: HOST_B }, ['PassthroughOtherHost']],
    ['reads the hello once', { readsOnce: 'misroutes' }, ['SplitHelloNotRouted']],
    ['reads one record alone', { firstRecord: 'refuses' }, ['SmallRecordsRefused']],
    ['guesses behind one record', { firstRecord: 'misroutes' }, ['SmallRecordsMisrouted']],
    ['has a small buffer', { maxHelloBytes: 1460 }, ['LargeHelloNotRouted']],
    ['minds the case of names', { isCaseSensitive: true }, ['UpperCaseNotRouted']],
    ['wants TLS 1.3', { refusesTls12: true }, ['Tls12NotRouted']],
    ['leads no name to the first tenant', { noName: 'first' }, ['NoNameLedToTenant']],
    ['answers no name in the clear', { noName: 'clear' }, ['NoNameNotTls']],
    ['leads unknown names to a tenant', { unknownName: 'first' }, ['UnknownNameLedToTenant']],
    ['answers unknown names in the clear', { unknownName: 'clear' }, ['UnknownNameNotTls']],
    ['ends both sides when one ends', { cutsHalfClose: true }, ['HalfCloseCut']],
    ['has few connections', { maxConnections: 30 }, ['ManyConnectionsRefused']],
    ['breaks under load', { cutsAfterBytes: 100_000 }, ['BulkCut']],
    ['believes every PROXY header', { proxyHeader: 'taken' }, ['ProxyHeaderTaken']],
    ['wants a PROXY header', { proxyHeader: 'required' }, ['ProxyHeaderRequired']],
  ];

  test.each(faults)('an edge that %s', async (_, fault, codes) => {
    await using lab = await EdgeLab.create();
    const { port } = await lab.faultyEdge(fault);

    const results = await lab.check(port, { ca: lab.authorities, timeoutMs: 30_000 });

    expect(complaints(results)).toEqual([...codes]);
  });
});

describe('an edge that ends TLS itself', () => {
  test('with a certificate of its own', async () => {
    await using lab = await EdgeLab.create();
    const serving = await (await TestAuthority.create('edge')).issue({ names: [HOST_A, HOST_B] });
    const { port } = lab.use(await ApiServer.start({ serving, onConnection: httpSpeaker() }));

    const results = await lab.check(port, { ca: lab.authorities });

    // That it answers strangers so, too, is no fault of its own.
    expect(complaints(results)).toEqual(['PassthroughEdgeEndsTls']);
    expect(results[0]?.message).toContain('the certificate of CN=leaf by CN=edge');
    expect(results[0]?.action).toStartWith(
      `if this is the own certificate of the tenant of ${HOST_A}, give its CA by --ca; else`,
    );
    expect(results[1]).toMatchObject({
      ...{ state: 'Skip', code: 'EarlierCheckFailed' },
      message: 'not looked at, since check passthrough did not pass',
    });
    expect(results.at(-1)).toMatchObject({ check: 'proxy-header', state: 'Skip' });
  });

  test('and nobody has said whose CA is right: it shows that hosts share a certificate', async () => {
    await using lab = await EdgeLab.create();
    const serving = await (await TestAuthority.create('edge')).issue({ names: ['*.k8s.test'] });
    const { port: own } = lab.use(await ApiServer.start({ serving, onConnection: httpSpeaker() }));
    const routes = new Map([HOST_A, HOST_B].map((host) => [host, own]));
    const { port } = lab.use(await FaultyEdge.start(routes));

    await expectComplaints(['PassthroughNotProven', 'CertificateShared'], async (timeoutMs) =>
      lab.check(port, { timeoutMs }),
    );
  });

  test.each([
    [
      'without protocols',
      [],
      'AlpnNotAnswered',
      'its server does not negotiate ALPN, or something',
    ],
    ['with HTTP/1.1 alone', ['http/1.1'], 'AlpnH2NotChosen', 'http/1.1 is chosen'],
  ] as const)('with the key of the tenant, %s', async (_, protocols, code, message) => {
    await using lab = await EdgeLab.create();
    const { serving } = lab.a;
    const { port: ending } = lab.use(
      await ApiServer.start({ serving, protocols, onConnection: httpSpeaker() }),
    );
    const { port } = lab.use(await FaultyEdge.start(new Map([[HOST_A, ending]])));

    const results = await lab.check(port, { ca: lab.authorities, hosts: [HOST_A] });

    expect(complaints(results)).toEqual([code]);
    expect(results.find(({ check }) => check === 'alpn-h2')).toMatchObject({
      ...{ state: 'Warn', message: expect.stringContaining(message) },
    });
    expect(results.find(({ check }) => check === 'own-certificates')).toMatchObject({
      ...{ state: 'Skip', code: 'NothingToCheck' },
    });
  });
});

test('who knows no CA takes ALPN that is lost for a fault of the edge', async () => {
  await using lab = await EdgeLab.create();
  const { serving } = lab.a;
  const { port: ending } = lab.use(
    await ApiServer.start({ serving, protocols: [], onConnection: httpSpeaker() }),
  );
  const { port } = lab.use(await FaultyEdge.start(new Map([[HOST_A, ending]])));

  const results = await lab.check(port, { hosts: [HOST_A] });

  expect(complaints(results)).toEqual(['PassthroughNotProven', 'AlpnLost']);
  expect(results.find(({ check }) => check === 'alpn-h2')?.state).toBe('Fail');
});

test('an edge with a certificate for strangers gets a warning each', async () => {
  await using lab = await EdgeLab.create();
  const serving = await (await TestAuthority.create('edge')).issue({ names: ['edge.test'] });
  const own = lab.use(await ApiServer.start({ serving }));
  const routes = new Map([
    ['edge.test', own.port],
    [HOST_A, lab.a.port],
  ]);
  const { port } = lab.use(
    await FaultyEdge.start(routes, { noName: 'first', unknownName: 'first' }),
  );

  const results = await lab.check(port, { ca: lab.authorities, hosts: [HOST_A] });

  expect(complaints(results)).toEqual(['NoNameOwnCertificate', 'UnknownNameOwnCertificate']);
});

test('a certificate of the tenant without the name of the host is told from one of the edge', async () => {
  await using lab = await EdgeLab.create();
  const unnamed = lab.use(
    await HttpBackend.start(HOST_B, { names: ['elsewhere.test'], authority: lab.b.authority }),
  );
  const routes = new Map([
    [HOST_A, lab.a.port],
    [HOST_B, unnamed.port],
  ]);
  const { port } = lab.use(await FaultyEdge.start(routes));

  const results = await lab.check(port, { ca: lab.authorities });

  expect(complaints(results)).toEqual(['PassthroughNameMissing']);
  expect(results[0]?.message).toContain(HOST_B);
});

describe('an API server whose CA was not given is told from the edge', () => {
  const NAMES = ['kubernetes.default.svc', HOST_B];

  test('when it answers for its host: the CA is asked for first', async () => {
    await using lab = await EdgeLab.create();
    const unknown = lab.use(await HttpBackend.start(HOST_B, { names: NAMES }));
    const routes = new Map([
      [HOST_A, lab.a.port],
      [HOST_B, unknown.port],
    ]);
    const { port } = lab.use(await FaultyEdge.start(routes));

    const results = await lab.check(port, { ca: lab.a.authority.cert });

    expect(complaints(results)).toEqual(['PassthroughUnknownAuthority']);
    expect(results[0]?.message).toEndWith(
      `asked for ${HOST_B}, which is that of an API server, but of no CA given`,
    );
    expect(results[0]?.action).toBe(
      `if this is the own certificate of the tenant of ${HOST_B}, give its CA by --ca; else see where the route of ${HOST_B} leads`,
    );
  });

  test('when it answers who names no host', async () => {
    await using lab = await EdgeLab.create();
    const unknown = lab.use(await HttpBackend.start(HOST_B, { names: NAMES }));
    const routes = new Map([
      [HOST_B, unknown.port],
      [HOST_A, lab.a.port],
    ]);
    const { port } = lab.use(await FaultyEdge.start(routes, { noName: 'first' }));

    const results = await lab.check(port, { ca: lab.a.authority.cert, hosts: [HOST_A] });

    expect(complaints(results)).toEqual(['NoNameLedToTenant']);
  });

  test('when its certificate lacks the host, and no CA is given at all', async () => {
    await using lab = await EdgeLab.create();
    const names = ['kubernetes.default.svc'];
    const unnamed = lab.use(await HttpBackend.start(HOST_B, { names }));
    const { port } = lab.use(await FaultyEdge.start(new Map([[HOST_B, unnamed.port]])));

    const results = await lab.check(port, { hosts: [HOST_B] });

    expect(complaints(results)).toEqual(['PassthroughNameMissing']);
  });
});

test('two servers of one host, with a key each, are a warning', async () => {
  await using lab = await EdgeLab.create();
  const second = lab.use(await HttpBackend.start(HOST_A, { authority: lab.a.authority }));
  const gateway = await lab.gateway();
  await gateway.changeRoutes([
    { host: HOST_A, endpoints: [lab.a.endpoint, second.endpoint] },
    { host: HOST_B, endpoints: [lab.b.endpoint] },
  ]);

  const results = await lab.check(gateway.port, { ca: lab.authorities });

  expect(complaints(results)).toEqual(['KeyChanges']);
});

test('two hosts of one tenant may share its certificate', async () => {
  await using lab = await EdgeLab.create();
  const shared = lab.use(await HttpBackend.start(HOST_A, { names: [HOST_A, HOST_B] }));
  const routes = new Map([HOST_A, HOST_B].map((host) => [host, shared.port]));
  const { port } = lab.use(await FaultyEdge.start(routes));

  const results = await lab.check(port, { ca: shared.authority.cert });

  expect(complaints(results)).toEqual([]);
});

test('a host without a route is refused, and so is everybody else', async () => {
  await using lab = await EdgeLab.create();
  const { port } = await lab.faultyEdge();

  const results = await lab.check(port, { hosts: ['c.k8s.test'] });

  expect(complaints(results)).toEqual(['PassthroughRefused']);
});

test('a port that speaks HTTP has one fault, whoever is asked for', async () => {
  await using lab = await EdgeLab.create();
  const { port } = await lab.faultyEdge({ unknownName: 'clear', noName: 'clear' });

  const results = await lab.check(port, { hosts: ['c.k8s.test'] });

  expect(complaints(results)).toEqual(['PassthroughNotTls']);
  for (const check of ['no-name', 'unknown-name', 'proxy-header']) {
    expect(results).toContainEqual(
      expect.objectContaining({ check, state: 'Skip', code: 'EarlierCheckFailed' }),
    );
  }
});

test('a stranger who is led to a tenant is a fault, even if no host is served', async () => {
  await using lab = await EdgeLab.create();
  const { port } = await lab.faultyEdge({ unknownName: 'clear', noName: 'first' });

  const results = await lab.check(port, { ca: lab.authorities, hosts: ['c.k8s.test'] });

  expect(complaints(results)).toEqual(['PassthroughNotTls', 'NoNameLedToTenant']);
});

test('what is skipped for a PROXY header that is required is skipped for that', async () => {
  await using lab = await EdgeLab.create();
  const { port } = await lab.faultyEdge({ proxyHeader: 'required' });

  const results = await lab.check(port, { ca: lab.authorities });

  const skipped = results.filter(({ check }) => check !== 'proxy-header');
  expect(new Set(skipped.map(({ code, message }) => `${code}: ${message}`))).toEqual(
    new Set(['EarlierCheckFailed: not looked at, since check proxy-header did not pass']),
  );
});

test('what is silent is not served, and not waited for again and again', async () => {
  await using lab = await EdgeLab.create();
  const { port } = await lab.faultyEdge({ unknownName: 'holds' });
  let dials = 0;
  const dial: Dial = async (...to) => {
    dials++;
    return dialTcp(...to);
  };

  const results = await lab.check(port, { hosts: ['c.k8s.test'], timeoutMs: 200, dial });

  expect(results[0]?.code).toBe('PassthroughTimeout');
  // One for the host, one without a name, two for unknown names, one behind a PROXY header.
  expect(dials).toBe(5);
});

// One by one: what is held up by the others could look like a fault.
describe('a fault that shows by a wait has its code, and no other', () => {
  const waits: readonly (readonly [string, EdgeFaults | 'cutsIdleMs' | 'forgetsIdleMs', string])[] =
    [
      ['keeps who has no name waiting', { noName: 'holds' }, 'NoNameHeld'],
      ['keeps unknown names waiting', { unknownName: 'holds' }, 'UnknownNameHeld'],
      ['ignores the end of clients', { keepsEndOf: 'client' }, 'HalfCloseNotPassedOn'],
      ['ignores the end of servers', { keepsEndOf: 'server' }, 'ServerCloseNotPassedOn'],
      ['cuts quiet connections', 'cutsIdleMs', 'IdleCut'],
      ['forgets quiet connections', 'forgetsIdleMs', 'IdleDead'],
    ];

  test.each(waits)('an edge that %s', async (_, fault, code) => {
    await using lab = await EdgeLab.create();
    const ca = lab.authorities;

    await expectComplaints([code], async (timeoutMs) => {
      const isIdle = typeof fault === 'string';
      const { port } = await lab.faultyEdge(isIdle ? { [fault]: timeoutMs } : fault);
      return lab.check(port, { ca, timeoutMs, idleMs: isIdle ? 1.25 * timeoutMs : 100 });
    });
  });
});

test('a split hello without an answer is told from one that is led astray', async () => {
  await using lab = await EdgeLab.create();
  const { port } = await lab.faultyEdge({ readsOnce: 'holds' });

  let limitMs = 0;
  const results = await expectComplaints(['SplitHelloTimeout'], async (timeoutMs) => {
    limitMs = timeoutMs;
    return lab.check(port, { ca: lab.authorities, timeoutMs });
  });

  expect(results.find(({ check }) => check === 'split-hello')).toMatchObject({
    state: 'Fail',
    message: `127.0.0.1:${port} gave no answer within ${limitMs / 1000} s, asked for ${HOST_A} in a hello of six segments`,
  });
});

describe('servers behind a good edge', () => {
  type Speaker = NonNullable<Parameters<typeof ApiServer.start>[0]['onConnection']>;

  interface Situation {
    readonly onConnection: Speaker;
    /** Default: none. */
    readonly faults?: EdgeFaults;
    /** Default 100. */
    readonly idleMs?: number;
  }

  async function expectCodes(
    codes: readonly string[],
    within: (timeoutMs: number) => Situation,
  ): Promise<void> {
    await using lab = await EdgeLab.create();
    const ca = lab.authorities;
    await expectComplaints(codes, async (timeoutMs) => {
      const { onConnection, faults = {}, idleMs = 100 } = within(timeoutMs);
      const server = lab.use(await ApiServer.start({ serving: lab.a.serving, onConnection }));
      const { port } = lab.use(await FaultyEdge.start(new Map([[HOST_A, server.port]]), faults));
      return lab.check(port, { ca, hosts: [HOST_A], timeoutMs, idleMs });
    });
  }

  test('are known by their goodbye: it was not the edge that cut', async () => {
    await expectCodes(['IdleEndedByServer'], (timeoutMs) => ({
      onConnection: httpSpeaker({ endsAfterMs: timeoutMs }),
      idleMs: 1.25 * timeoutMs,
    }));
  });

  test('may hang up when a client ends its side: that is unclear', async () => {
    await expectCodes(['HalfCloseUnclear'], (timeoutMs) => ({
      onConnection: httpSpeaker({ hangsUpWithin: timeoutMs / 8 }),
    }));
  });

  test('need not speak HTTP', async () => {
    await expectCodes([], () => ({ onConnection: silent }));
  });

  test.each([
    [{ cutsHalfClose: true }, 'HalfCloseCut'],
    [{ keepsEndOf: 'client' }, 'HalfCloseNotPassedOn'],
  ] as const)('need not speak HTTP for %j to be seen', async (faults, code) => {
    await expectCodes([code], () => ({ onConnection: silent, faults }));
  });

  test('need not speak HTTP for a quiet connection that is cut to be seen', async () => {
    await expectCodes(['IdleCut'], (timeoutMs) => ({
      onConnection: silent,
      // Later than whatever is waited for in vain on one that is in use.
      faults: { cutsIdleMs: 1.5 * timeoutMs },
      idleMs: 2 * timeoutMs,
    }));
  });
});

test('a check ends when its caller wants no more', async () => {
  await using lab = await EdgeLab.create();
  const { port } = await lab.faultyEdge();
  const controller = new AbortController();

  const checking = lab.check(port, { signal: controller.signal, idleMs: 60_000 });
  setTimeout(() => controller.abort(new Error('enough')), 50);

  await expect(checking).rejects.toThrow('enough');
});
