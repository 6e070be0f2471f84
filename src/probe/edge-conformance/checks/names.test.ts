import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import { ApiServer } from '../../../proxy/testing/api-server.ts';
import { TestAuthority } from '../../../net/testing/certificates.ts';
import { EdgeLab, expectResult, HOST_A, HOST_B } from '../testing/edge-lab.ts';
import { MisbehavingEdge, type EdgeFaults } from '../testing/misbehaving-edge.ts';
import { HttpBackend } from '../testing/http-backend.ts';
import { checkNoName, checkUnknownName } from './names.ts';

setDefaultTimeout(240_000);

describe('a ClientHello without a server name', () => {
  test.each([
    ['routes it to the first tenant', 'first', 'DefaultRouteReachesTenant'],
    ['responds to it without TLS', 'clear', 'NameNotRejected'],
    ['does not respond to it', 'holds', 'NameNotRejected'],
  ] as const)('detects an edge that %s', async (_, noName, code) => {
    await using lab = await EdgeLab.create();
    const { port } = await lab.misbehavingEdge({ noName });
    const checkup = await lab.checkup(port);

    await expectResult({ code }, async (timeoutMs) =>
      checkNoName({ ...checkup, limits: { timeoutMs } }),
    );
  });

  test('detects an edge that routes it to an API server with an unknown CA', async () => {
    await using lab = await EdgeLab.create();
    const names = ['kubernetes.default.svc', HOST_B];
    const unknown = lab.use(await HttpBackend.start(HOST_B, { names }));
    const routes = new Map([
      [HOST_B, unknown.port],
      [HOST_A, lab.a.port],
    ]);
    const { port } = lab.use(await MisbehavingEdge.start(routes, { noName: 'first' }));
    const checkup = await lab.checkup(port, { ca: lab.a.authority.cert, hosts: [HOST_A] });

    expect(await checkNoName(checkup)).toMatchObject({
      state: 'Fail',
      code: 'DefaultRouteReachesTenant',
    });
  });
});

describe('a ClientHello with an unknown server name', () => {
  test.each([
    ['routes it to the first tenant', 'first', 'DefaultRouteReachesTenant'],
    ['responds to it without TLS', 'clear', 'NameNotRejected'],
    ['does not respond to it', 'holds', 'NameNotRejected'],
  ] as const)('detects an edge that %s', async (_, unknownName, code) => {
    await using lab = await EdgeLab.create();
    const { port } = await lab.misbehavingEdge({ unknownName });
    const checkup = await lab.checkup(port);

    await expectResult({ code }, async (timeoutMs) =>
      checkUnknownName({ ...checkup, limits: { timeoutMs } }, HOST_A),
    );
  });
});

test('an edge that responds to both with its own certificate gets two warnings', async () => {
  await using lab = await EdgeLab.create();
  const serving = await (await TestAuthority.create('edge')).issue({ names: ['edge.test'] });
  const server = lab.use(await ApiServer.start({ serving }));
  const routes = new Map([
    ['edge.test', server.port],
    [HOST_A, lab.a.port],
  ]);
  const faults: EdgeFaults = { noName: 'first', unknownName: 'first' };
  const { port } = lab.use(await MisbehavingEdge.start(routes, faults));
  const checkup = await lab.checkup(port, { hosts: [HOST_A] });

  expect([await checkNoName(checkup), await checkUnknownName(checkup, HOST_A)]).toMatchObject([
    { state: 'Warn', code: 'NameNotRejected' },
    { state: 'Warn', code: 'NameNotRejected' },
  ]);
});
