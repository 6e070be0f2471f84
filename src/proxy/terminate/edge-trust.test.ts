import { expect, test } from 'bun:test';
import { until } from '../../net/testing/peer.ts';
import { TestAuthority, type Pair } from '../../net/testing/certificates.ts';
import { HOST, Lab } from '../testing/lab.ts';
import { Pod } from '../testing/pod.ts';

const yesterday = new Date(Date.now() - 24 * 3600 * 1000);

const impostors: [string, (lab: Lab) => Promise<Pair>][] = [
  [
    'of another CA with the same name',
    async () => (await TestAuthority.create()).issue({ names: [HOST] }),
  ],
  [
    'of the right CA for another host',
    async (lab) => lab.authority.issue({ names: ['b.k8s.test'] }),
  ],
  ['that has expired', async (lab) => lab.authority.issue({ names: [HOST], notAfter: yesterday })],
  ['without alternative names', async (lab) => lab.authority.issue({ commonName: HOST })],
  [
    'that is self-signed',
    async () => {
      const selfSigned = await TestAuthority.create(HOST);
      return selfSigned.issue({ commonName: HOST, names: [HOST] });
    },
  ],
];

test.each(impostors)(
  'sends no byte of a pod to an edge with a certificate %s',
  async (_, issue) => {
    await using lab = await Lab.create();
    const impostor = await lab.apiServer({ serving: await issue(lab) });
    const proxy = await lab.proxy({ edgePort: impostor.port });

    const refusal = await Pod.refused(proxy.ports[0]!);
    await until(() => proxy.notReady() !== 'the edge has not been probed yet', 'the first probe');

    expect(refusal).toEqual({ code: 'ECONNRESET', sawHandshake: false });
    expect(impostor.received).toBe(0);
    expect(proxy.counters.failures()).toEqual({ edge_untrusted: 1, edge_down: 1 });
    expect(proxy.notReady()).toStartWith(
      `edge_untrusted: edge 127.0.0.1:${impostor.port}, name ${HOST}:`,
    );
  },
);

test('the environment cannot disable verification', async () => {
  await using lab = await Lab.create();
  const forged = await (await TestAuthority.create()).issue({ names: [HOST] });
  const impostor = await lab.apiServer({ serving: forged });
  const proxy = await lab.proxy({ edgePort: impostor.port });

  process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0';
  const refusal = await Pod.refused(proxy.ports[0]!).finally(
    () => delete process.env['NODE_TLS_REJECT_UNAUTHORIZED'],
  );

  expect(refusal.code).toBe('ECONNRESET');
  expect(impostor.received).toBe(0);
});

test('trusts a replaced CA for new connections, and no longer the previous one', async () => {
  await using lab = await Lab.create();
  const next = await TestAuthority.create('next-ca');
  const oldServer = await lab.apiServer();
  const newServer = await lab.apiServer({ serving: await next.issue({ names: [HOST] }) });
  const before = await lab.proxy({ edgePort: oldServer.port });
  const after = await lab.proxy({ edgePort: newServer.port });
  const options = { ca: lab.authority.cert };
  using openPod = await Pod.dial(before.ports[0]!, options);

  lab.write('ca.crt', next.cert);
  const reloaded = 'snicket_proxy_reloads_total{file="ca",result="success"} 1';
  await until(() => before.metrics.text().includes(reloaded), 'the new CA');
  await until(() => after.metrics.text().includes(reloaded), 'the new CA');

  using pod = await Pod.dial(after.ports[0]!, options);
  expect(await pod.echo('new')).toBe('new');
  expect((await Pod.refused(before.ports[0]!, options)).code).toBe('ECONNRESET');
  expect(await openPod.echo('still here')).toBe('still here');
});
