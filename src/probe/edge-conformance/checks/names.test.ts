import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import { ApiServer } from '../../../proxy/testing/api-server.ts';
import { TestAuthority } from '../../../net/testing/certificates.ts';
import { EdgeLab, expectResult, HOST_A, HOST_B } from '../testing/edge-lab.ts';
import { MisbehavingEdge, type EdgeFaults } from '../testing/misbehaving-edge.ts';
import { HttpBackend } from '../testing/http-backend.ts';
import { checkNoName, checkUnknownName } from './names.ts';

setDefaultTimeout(240_000);

describe('a client that names no host', () => {
  test.each([
    ['leads it to the first tenant', 'first', 'NoNameReachesTenant'],
    ['answers it in the clear', 'clear', 'NoNameNotTls'],
    ['keeps it waiting', 'holds', 'NoNameUnanswered'],
  ] as const)('finds an edge that %s', async (_, noName, code) => {
    await using lab = await EdgeLab.create();
    const { port } = await lab.misbehavingEdge({ noName });
    const checkup = await lab.checkup(port);

    await expectResult({ code }, async (timeoutMs) =>
      checkNoName({ ...checkup, limits: { timeoutMs } }),
    );
  });

  test('finds an edge that leads it to an API server of an unknown CA', async () => {
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
      code: 'NoNameReachesTenant',
    });
  });
});

describe('a client that names an unknown host', () => {
  test.each([
    ['leads it to the first tenant', 'first', 'UnknownNameReachesTenant'],
    ['answers it in the clear', 'clear', 'UnknownNameNotTls'],
    ['keeps it waiting', 'holds', 'UnknownNameUnanswered'],
  ] as const)('finds an edge that %s', async (_, unknownName, code) => {
    await using lab = await EdgeLab.create();
    const { port } = await lab.misbehavingEdge({ unknownName });
    const checkup = await lab.checkup(port);

    await expectResult({ code }, async (timeoutMs) =>
      checkUnknownName({ ...checkup, limits: { timeoutMs } }, HOST_A),
    );
  });
});

test('an edge that answers both with its own certificate gets two warnings', async () => {
  await using lab = await EdgeLab.create();
  const serving = await (await TestAuthority.create('edge')).issue({ names: ['edge.test'] });
  const own = lab.use(await ApiServer.start({ serving }));
  const routes = new Map([
    ['edge.test', own.port],
    [HOST_A, lab.a.port],
  ]);
  const faults: EdgeFaults = { noName: 'first', unknownName: 'first' };
  const { port } = lab.use(await MisbehavingEdge.start(routes, faults));
  const checkup = await lab.checkup(port, { hosts: [HOST_A] });

  expect([await checkNoName(checkup), await checkUnknownName(checkup, HOST_A)]).toMatchObject([
    { state: 'Warn', code: 'NoNameOwnCertificate' },
    { state: 'Warn', code: 'UnknownNameOwnCertificate' },
  ]);
});
