import { expect, test } from 'bun:test';
import { once } from 'node:events';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { connect } from 'node:tls';
import { ALERT_RECORDS, ALERTS, readAlert, type AlertName } from './alert.ts';

/** Starts a plain TCP server that answers the first bytes with an alert and closes. */
async function alertServer(alert: AlertName): Promise<{ server: Server; port: number }> {
  const server = createServer((socket) => {
    socket.on('error', () => {}); // the client may reset
    socket.once('data', () => socket.end(ALERT_RECORDS[alert]));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { server, port: (server.address() as AddressInfo).port };
}

const names = Object.keys(ALERTS) as AlertName[];

test('writes an alert as one fatal TLS 1.2 record', () => {
  expect(ALERT_RECORDS.unrecognized_name.toString('hex')).toBe('15030300020270');
  for (const name of names) {
    const expected = { level: 'fatal', description: ALERTS[name], name } as const;
    expect(readAlert(ALERT_RECORDS[name])).toEqual(expected);
  }
});

test.each([
  '',
  '150303000202',
  '1503030002027000',
  '16030300020270',
  '15020300020270',
  '15030300020370',
])('returns undefined for "%s"', (hex) => {
  expect(readAlert(Buffer.from(hex, 'hex'))).toBeUndefined();
});

test('reads a warning, and an alert with an unknown code', () => {
  const alert = readAlert(Buffer.from('1503010002015a', 'hex'));

  expect(alert).toEqual({ level: 'warning', description: 90, name: undefined });
});

// BoringSSL uses the error names of OpenSSL. Those of SSL 3.0 alerts contain SSLV3.
test.each([
  ['unexpected_message', 'ERR_SSL_SSLV3_ALERT_UNEXPECTED_MESSAGE'],
  ['record_overflow', 'ERR_SSL_TLSV1_ALERT_RECORD_OVERFLOW'],
  ['handshake_failure', 'ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE'],
  ['illegal_parameter', 'ERR_SSL_SSLV3_ALERT_ILLEGAL_PARAMETER'],
  ['decode_error', 'ERR_SSL_TLSV1_ALERT_DECODE_ERROR'],
  ['protocol_version', 'ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION'],
  ['internal_error', 'ERR_SSL_TLSV1_ALERT_INTERNAL_ERROR'],
  ['unrecognized_name', 'ERR_SSL_TLSV1_ALERT_UNRECOGNIZED_NAME'],
] as const)('Bun clients report %s', async (alert, code) => {
  const { server, port } = await alertServer(alert);
  const client = connect({ host: '127.0.0.1', port, servername: 'a.example' });

  const [error] = (await once(client, 'error')) as [NodeJS.ErrnoException];
  server.close();

  expect(error.code).toBe(code);
});

test.skipIf(Bun.which('openssl') === null)(
  'OpenSSL clients report the number of each alert',
  async () => {
    for (const name of names) {
      const { server, port } = await alertServer(name);
      const openssl = ['openssl', 's_client', '-connect', `127.0.0.1:${port}`];
      const client = Bun.spawn(openssl, { stdin: 'ignore', stdout: 'ignore', stderr: 'pipe' });

      expect(await client.stderr.text()).toContain(`SSL alert number ${ALERTS[name]}\n`);
      expect(await client.exited).toBe(1);
      server.close();
    }
  },
  240_000,
);

test.skipIf(Bun.which('curl') === null)('curl reports unrecognized_name', async () => {
  const { server, port } = await alertServer('unrecognized_name');
  const curl = ['curl', '-sS', '--noproxy', '*', `https://127.0.0.1:${port}/`];
  const client = Bun.spawn(curl, { stderr: 'pipe' });

  expect(await client.stderr.text()).toContain('unrecognized name');
  expect(await client.exited).toBe(35);
  server.close();
});
