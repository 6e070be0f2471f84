import { expect, setDefaultTimeout, test } from 'bun:test';
import { EdgeLab, HOST_A } from '../testing/edge-lab.ts';
import { httpSpeaker } from '../testing/http-speaker.ts';
import { judgeAlpn } from './alpn.ts';
import { judgeOwnCertificates } from './certificates.ts';

setDefaultTimeout(240_000);

test.each([
  [
    'no protocols',
    [],
    'AlpnNotNegotiated',
    'Its server does not negotiate ALPN, or something with its key terminates TLS before it.',
  ],
  [
    'only HTTP/1.1',
    ['http/1.1'],
    'AlpnNotNegotiated',
    'Protocol http/1.1 is selected for host a.k8s.test.',
  ],
] as const)(
  "TLS terminated with the tenant's key and with ALPN of %s is a warning",
  async (_, protocols, code, message) => {
    await using lab = await EdgeLab.create();
    const { port } = await lab.edgeInFrontOf(httpSpeaker(), {}, protocols);

    const checkup = await lab.checkup(port, { hosts: [HOST_A] });

    expect(judgeAlpn(checkup)).toMatchObject({
      state: 'Warn',
      code,
      message: expect.stringContaining(message),
    });
    expect(judgeOwnCertificates(checkup)).toMatchObject({ state: 'Skip', code: 'NotApplicable' });
  },
);

test('without a CA, lost ALPN is a failure of the edge', async () => {
  await using lab = await EdgeLab.create();
  const { port } = await lab.edgeInFrontOf(httpSpeaker(), {}, []);

  const checkup = await lab.checkup(port, { ca: '', hosts: [HOST_A] });

  expect(judgeAlpn(checkup)).toMatchObject({ state: 'Fail', code: 'AlpnLost' });
});
