import { expect, setDefaultTimeout, test } from 'bun:test';
import { ApiServer } from '../../../proxy/testing/api-server.ts';
import { TestAuthority } from '../../../net/testing/certificates.ts';
import { EdgeLab, HOST_A, HOST_B } from '../testing/edge-lab.ts';
import { MisbehavingEdge } from '../testing/misbehaving-edge.ts';
import { HttpBackend } from '../testing/http-backend.ts';
import { httpSpeaker } from '../testing/http-speaker.ts';
import { judgeOwnCertificates, judgeSameKey } from './certificates.ts';
import { judgePassthrough } from './passthrough.ts';

setDefaultTimeout(240_000);

test('without a CA, hosts that share a certificate of the edge get a warning', async () => {
  await using lab = await EdgeLab.create();
  const serving = await (await TestAuthority.create('edge')).issue({ names: ['*.k8s.test'] });
  const { port: ownPort } = lab.use(
    await ApiServer.start({ serving, onConnection: httpSpeaker() }),
  );
  const routes = new Map([HOST_A, HOST_B].map((host) => [host, ownPort]));
  const { port } = lab.use(await MisbehavingEdge.start(routes));

  const checkup = await lab.checkup(port, { ca: '' });

  const { handshakes, recognition } = checkup;
  expect(judgePassthrough(handshakes, recognition, { at: '', timeoutMs: 0 })).toMatchObject({
    state: 'Warn',
    code: 'PassthroughNotProven',
  });
  expect(judgeOwnCertificates(checkup)).toMatchObject({
    state: 'Warn',
    code: 'PassthroughNotProven',
  });
  const firstOnly = new Map([...handshakes].slice(0, 1));
  expect(judgePassthrough(firstOnly, recognition, { at: '', timeoutMs: 0 }).message).toBe(
    `Host ${HOST_A} presents a certificate with its name. Without a CA, the owner of the certificate is unknown.`,
  );
  expect(judgeSameKey({ ...checkup, served: [HOST_A] }).message).toBe(
    `Host ${HOST_A} always presents the same key.`,
  );
});

test('two hosts of one tenant may share its certificate', async () => {
  await using lab = await EdgeLab.create();
  const shared = lab.use(await HttpBackend.start(HOST_A, { names: [HOST_A, HOST_B] }));
  const routes = new Map([HOST_A, HOST_B].map((host) => [host, shared.port]));
  const { port } = lab.use(await MisbehavingEdge.start(routes));

  const results = await lab.check(port, { ca: shared.authority.cert });

  expect(results.filter(({ state }) => state !== 'Pass')).toEqual([]);
});

test('two servers with different keys for one host are a warning', async () => {
  await using lab = await EdgeLab.create();
  const second = lab.use(await HttpBackend.start(HOST_A, { authority: lab.a.authority }));
  const gateway = await lab.gateway();
  await gateway.changeRoutes([
    { host: HOST_A, endpoints: [lab.a.endpoint, second.endpoint] },
    { host: HOST_B, endpoints: [lab.b.endpoint] },
  ]);

  const checkup = await lab.checkup(gateway.port);

  expect(judgeSameKey(checkup)).toMatchObject({ state: 'Warn', code: 'KeyChanges' });
});
