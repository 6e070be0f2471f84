import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { once } from 'node:events';
import { connect } from 'node:net';
import { until } from '../../net/testing/peer.ts';
import { makeCa } from '../../pki/testing/test-ca.ts';
import { ALERT_RECORDS, ALERTS, type AlertName } from '../../wire/alert.ts';
import { dialTcp, type Dial } from '../dial.ts';
import { API_HOST, ProbeLab } from '../testing/lab.ts';
import { shakeHands } from './handshake.ts';

const LIMITS = { timeoutMs: 30_000 };

function target(port: number, protocols: readonly string[] = ['h2', 'http/1.1']) {
  return { address: '127.0.0.1', port, serverName: API_HOST, protocols };
}

test.each(Object.keys(ALERTS) as AlertName[])('returns the alert %s by its name', async (alert) => {
  await using lab = await ProbeLab.create();
  const { port } = lab.edgeThat((peer) => void peer.send(ALERT_RECORDS[alert]));

  expect(await shakeHands(target(port), dialTcp, LIMITS)).toEqual({ kind: 'alert', alert });
});

test('returns the negotiated protocol, if any', async () => {
  await using lab = await ProbeLab.create();
  const http2Server = await lab.apiServer();
  const none = await lab.apiServer({ protocols: [] });

  const agreed = await shakeHands(target(http2Server.port, ['http/1.1']), dialTcp, LIMITS);
  const not = await shakeHands(target(none.port), dialTcp, LIMITS);

  expect(agreed).toMatchObject({ kind: 'secured', protocol: 'http/1.1' });
  expect(not).toMatchObject({ kind: 'secured', protocol: undefined });
});

test.each(['TLSv1.2', 'TLSv1.3'] as const)(
  'returns the whole presented chain: %s',
  async (maxVersion) => {
    await using lab = await ProbeLab.create();
    const root = await makeCa({ name: 'CN=root' });
    const upper = await makeCa({ name: 'CN=upper', parent: root });
    const lower = await makeCa({ name: 'CN=lower', parent: upper });
    const leaf = await makeCa({ name: 'CN=leaf', parent: lower, extensions: [] });
    const cert = `${leaf.certificate}${lower.certificate}${upper.certificate}`;
    const { port } = await lab.apiServer({ serving: { cert, key: leaf.key }, maxVersion });

    const handshake = await shakeHands(target(port), dialTcp, LIMITS);

    const subjects =
      handshake.kind === 'secured' ? handshake.presented.map(({ subject }) => subject) : [];
    expect(subjects).toEqual(['CN=leaf', 'CN=lower', 'CN=upper']);
  },
);

test('a failed dial counts as a closed connection', async () => {
  const dial: Dial = async () => {
    throw Object.assign(new Error('connect'), { code: 'ECONNREFUSED' });
  };

  expect(await shakeHands(target(443), dial, LIMITS)).toEqual({
    kind: 'closed',
    code: 'ECONNREFUSED',
  });
});

test('a reset before the ClientHello counts as a closed connection', async () => {
  await using lab = await ProbeLab.create();
  const edge = lab.edgeThat(() => {});
  const dial: Dial = async (address, port) => {
    const socket = connect({ host: address, port });
    await once(socket, 'connect');
    socket.destroy();
    return socket;
  };

  const handshake = await shakeHands(target(edge.port), dial, LIMITS);

  expect(handshake.kind).toBe('closed');
});

test('throws other errors', async () => {
  const dial: Dial = async () => {
    throw new TypeError('a bug');
  };

  await expect(shakeHands(target(443), dial, LIMITS)).rejects.toThrow('a bug');
});

test('any response of an edge gives a result, and the connection is closed', async () => {
  await using lab = await ProbeLab.create();
  let answer = Buffer.alloc(0);
  let closes = true;
  const edge = lab.edgeThat((peer) => {
    void peer.send(answer).then(() => closes && peer.close());
  });
  const record = fc
    .tuple(fc.constantFrom(20, 21, 22, 23, 24), fc.uint8Array({ maxLength: 300 }))
    .map(([type, body]) => Buffer.from([type, 3, 3, body.length >> 8, body.length & 255, ...body]));
  const noise = fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes));

  await fc.assert(
    fc.asyncProperty(fc.oneof(record, noise), fc.boolean(), async (bytes, isClosed) => {
      answer = bytes;
      closes = isClosed;

      const handshake = await shakeHands(target(edge.port), dialTcp, { timeoutMs: 20 });

      expect(['alert', 'closed', 'malformed', 'notTls', 'timeout']).toContain(handshake.kind);
    }),
    { numRuns: 50 },
  );
  await until(() => edge.peers.every(({ closed, sawFin }) => closed || sawFin), 'the hang-up');
});
