import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import { EdgeLab, HOST_A, HOST_B } from '../testing/edge-lab.ts';
import { MisbehavingEdge } from '../testing/misbehaving-edge.ts';
import { HttpBackend } from '../testing/http-backend.ts';
import type { CheckResult } from '../check-result.ts';
import type { Checkup } from '../checkup.ts';
import { judgePassthrough } from './passthrough.ts';

setDefaultTimeout(240_000);

function judge({ handshakes, recognition, at, limits }: Checkup): CheckResult {
  return judgePassthrough(handshakes, recognition, { at, timeoutMs: limits.timeoutMs });
}

test('an edge that routes a host to the server of another host fails', async () => {
  await using lab = await EdgeLab.create();
  const { port } = await lab.misbehavingEdge({ misroutes: HOST_B });

  expect(judge(await lab.checkup(port))).toMatchObject({
    state: 'Fail',
    code: 'OtherTenant',
  });
});

test("distinguishes a tenant's certificate without the host from one of the edge", async () => {
  await using lab = await EdgeLab.create();
  const unnamed = lab.use(
    await HttpBackend.start(HOST_B, { names: ['elsewhere.test'], authority: lab.b.authority }),
  );
  const routes = new Map([
    [HOST_A, lab.a.port],
    [HOST_B, unnamed.port],
  ]);
  const { port } = lab.use(await MisbehavingEdge.start(routes));

  const { code, message } = judge(await lab.checkup(port));

  expect(code).toBe('CertificateNameMissing');
  expect(message).toContain(HOST_B);
});

describe('distinguishes an API server with an unknown CA from the edge', () => {
  test('if it responds for its host: the message asks for the CA', async () => {
    await using lab = await EdgeLab.create();
    const names = ['kubernetes.default.svc', HOST_B];
    const unknown = lab.use(await HttpBackend.start(HOST_B, { names }));
    const routes = new Map([
      [HOST_A, lab.a.port],
      [HOST_B, unknown.port],
    ]);
    const { port } = lab.use(await MisbehavingEdge.start(routes));

    const result = judge(await lab.checkup(port, { ca: lab.a.authority.cert }));

    expect(result.code).toBe('UnknownAuthority');
    expect(result.message).toEndWith(
      `for host ${HOST_B}. The certificate is that of an API server, but no given CA signed it. If it is the tenant's own, pass its CA with --ca.`,
    );
    expect(result.action).toStartWith(`Check where the route of ${HOST_B} points.`);
  });

  test('if its certificate lacks the host, and no CA is given', async () => {
    await using lab = await EdgeLab.create();
    const names = ['kubernetes.default.svc'];
    const unnamed = lab.use(await HttpBackend.start(HOST_B, { names }));
    const { port } = lab.use(await MisbehavingEdge.start(new Map([[HOST_B, unnamed.port]])));

    const results = await lab.check(port, { hosts: [HOST_B] });

    expect(results[0]?.code).toBe('CertificateNameMissing');
  });
});
