import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import { ApiServer } from '../../proxy/testing/api-server.ts';
import { TestAuthority } from '../../net/testing/certificates.ts';
import { dialTcp, type Dial } from '../dial.ts';
import { problemCodes, EdgeLab, HOST_A, HOST_B } from './testing/edge-lab.ts';
import { httpSpeaker } from './testing/http-speaker.ts';

setDefaultTimeout(240_000);

test("Snicket's gateway passes every check", async () => {
  await using lab = await EdgeLab.create();
  const { port } = await lab.gateway();

  const results = await lab.check(port, { ca: lab.authorities });

  expect(results.filter(({ state }) => state !== 'Pass')).toEqual([]);
});

test('an edge without faults passes every check, and receives no requests except GET /version', async () => {
  await using lab = await EdgeLab.create();
  const { port } = await lab.misbehavingEdge();

  const results = await lab.check(port, { ca: lab.authorities });

  expect(results.filter(({ state }) => state !== 'Pass')).toEqual([]);
  const requests = [...lab.a.requests, ...lab.b.requests];
  expect(new Set(requests)).toEqual(new Set(['1.1 GET /version']));
  expect(requests.length).toBeLessThan(80);
});

// Faults that do not hide one another. The test of each check has every fault that the check can find.
describe('an edge with several faults has exactly their codes', () => {
  test.each([
    {
      faults: {
        readsOnce: 'misroutes',
        firstRecord: 'misroutes',
        isCaseSensitive: true,
        refusesTls12: true,
        noName: 'first',
        unknownName: 'clear',
        cutsHalfClose: true,
        cutsAfterBytes: 100_000,
        maxConnections: 30,
        proxyHeader: 'taken',
      },
      codes: [
        'HelloNotRouted',
        'DefaultRouteReachesTenant',
        'HelloNotRouted',
        'HelloNotRouted',
        'DefaultRouteReachesTenant',
        'NameNotRejected',
        'HalfCloseCutsResponse',
        'ManyConnectionsRefused',
        'BulkInterrupted',
        'ProxyHeaderAccepted',
      ],
    },
    {
      faults: {
        misroutes: HOST_B,
        firstRecord: 'refuses',
        maxHelloBytes: 1460,
        noName: 'clear',
        unknownName: 'first',
      },
      codes: [
        'OtherTenant',
        'SmallRecordsRefused',
        'HelloNotRouted',
        'NameNotRejected',
        'DefaultRouteReachesTenant',
      ],
    },
  ] as const)('with %j', async ({ faults, codes }) => {
    await using lab = await EdgeLab.create();
    const { port } = await lab.misbehavingEdge(faults);

    const results = await lab.check(port, { ca: lab.authorities });

    expect(problemCodes(results)).toEqual([...codes]);
  });

  test('with connections that hang', async () => {
    await using lab = await EdgeLab.create();
    const { port } = await lab.misbehavingEdge({
      readsOnce: 'holds',
      noName: 'holds',
      unknownName: 'holds',
      dropsEndOf: 'server',
    });
    const codes = ['TlsTimeout', 'NameNotRejected', 'NameNotRejected', 'CloseNotForwarded'];

    let found: readonly string[] = [];
    // The later limits are for a machine that was too busy for the earlier ones.
    for (const timeoutMs of [250, 2500, 15_000]) {
      found = problemCodes(await lab.check(port, { ca: lab.authorities, timeoutMs }));
      if (Bun.deepEquals(found, codes)) break;
    }

    expect(found).toEqual(codes);
  });
});

test('an edge that terminates TLS with its own certificate gets one failure', async () => {
  await using lab = await EdgeLab.create();
  const serving = await (await TestAuthority.create('edge')).issue({ names: [HOST_A, HOST_B] });
  const { port } = lab.use(await ApiServer.start({ serving, onConnection: httpSpeaker() }));

  const results = await lab.check(port, { ca: lab.authorities });

  // The same answer to unknown names is not reported separately.
  expect(problemCodes(results)).toEqual(['EdgeTerminates']);
  expect(results[0]?.message).toContain('the certificate CN=leaf issued by CN=edge');
  expect(results[0]?.message).toEndWith("If it is the tenant's own, pass its CA with --ca.");
  expect(results[1]).toMatchObject({
    state: 'Skip',
    code: 'PrerequisiteFailed',
    message: 'Skipped because check passthrough did not pass.',
  });
  expect(results.at(-1)).toMatchObject({ check: 'proxy-header', state: 'Skip' });
});

test('a host without a route gets one failure', async () => {
  await using lab = await EdgeLab.create();
  const { port } = await lab.misbehavingEdge();

  const results = await lab.check(port, { hosts: ['c.k8s.test'] });

  expect(problemCodes(results)).toEqual(['NoRoute']);
});

test('a port without TLS gets one failure for all hosts', async () => {
  await using lab = await EdgeLab.create();
  const { port } = await lab.misbehavingEdge({ unknownName: 'clear', noName: 'clear' });

  const results = await lab.check(port, { hosts: ['c.k8s.test'] });

  expect(problemCodes(results)).toEqual(['NotTls']);
  for (const check of ['no-name', 'unknown-name', 'proxy-header']) {
    expect(results).toContainEqual(
      expect.objectContaining({ check, state: 'Skip', code: 'PrerequisiteFailed' }),
    );
  }
});

test('routing a client without a server name to a tenant is a failure, even if no host is served', async () => {
  await using lab = await EdgeLab.create();
  const { port } = await lab.misbehavingEdge({ unknownName: 'clear', noName: 'first' });

  const results = await lab.check(port, { ca: lab.authorities, hosts: ['c.k8s.test'] });

  expect(problemCodes(results)).toEqual(['NotTls', 'DefaultRouteReachesTenant']);
});

test('if the edge requires a PROXY header, the skipped checks name check proxy-header as the cause', async () => {
  await using lab = await EdgeLab.create();
  const { port } = await lab.misbehavingEdge({ proxyHeader: 'required' });

  const results = await lab.check(port, { ca: lab.authorities });

  expect(problemCodes(results)).toEqual(['ProxyHeaderRequired']);
  const skipped = results.filter(({ check }) => check !== 'proxy-header');
  expect(new Set(skipped.map(({ code, message }) => `${code}: ${message}`))).toEqual(
    new Set(['PrerequisiteFailed: Skipped because check proxy-header did not pass.']),
  );
});

test('a host that times out is not served, and not tried again', async () => {
  await using lab = await EdgeLab.create();
  const { port } = await lab.misbehavingEdge({ unknownName: 'holds' });
  let dials = 0;
  const dial: Dial = async (...to) => {
    dials++;
    return dialTcp(...to);
  };

  const results = await lab.check(port, { hosts: ['c.k8s.test'], timeoutMs: 200, dial });

  expect(results[0]?.code).toBe('TlsTimeout');
  // One for the host, one without a name, two for unknown names, one with a PROXY header.
  expect(dials).toBe(5);
});

test('the checks end when the signal aborts', async () => {
  await using lab = await EdgeLab.create();
  const { port } = await lab.misbehavingEdge();
  const controller = new AbortController();

  const running = lab.check(port, { signal: controller.signal, idleMs: 60_000 });
  setTimeout(() => controller.abort(new Error('aborted by the test')), 50);

  await expect(running).rejects.toThrow('aborted by the test');
});
