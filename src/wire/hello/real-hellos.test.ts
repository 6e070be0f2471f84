import { expect, test } from 'bun:test';
import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { connect, type ConnectionOptions } from 'node:tls';
import { ALERT_RECORDS } from '../alert.ts';
import { ClientHello } from './client-hello.ts';

// Tests with hellos of real clients, captured on a loopback socket.

const HOST = 'tenant-a.k8s.example.com';

/** Captures the first bytes of a client, segment by segment, until the hello is complete. */
async function captureHello(
  dial: (port: number) => () => void,
): Promise<ClientHello & { bytes: Buffer }> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const hangUp = dial((server.address() as AddressInfo).port);
  const [socket] = (await once(server, 'connection')) as [Socket];
  socket.on('error', () => {}); // the client may reset
  const hello = new ClientHello();
  let bytes = Buffer.alloc(0);
  for await (const chunk of socket.iterator({ destroyOnReturn: false })) {
    bytes = Buffer.concat([bytes, chunk as Buffer]);
    const outcome = hello.read(bytes, bytes.length);
    if (outcome === 'incomplete') continue;
    expect(outcome).toBe('hello');
    break;
  }
  socket.end(ALERT_RECORDS.unrecognized_name);
  hangUp();
  server.close();
  return Object.assign(hello, { bytes });
}

function dialTls(options: ConnectionOptions) {
  return (port: number) => {
    const socket = connect({ host: '127.0.0.1', port, ...options });
    socket.on('error', () => {}); // the alert of the server
    return () => {};
  };
}

function dialWith(command: (port: number) => string[]) {
  return (port: number) => {
    const client = Bun.spawn(command(port), { stdin: 'pipe', stdout: 'ignore', stderr: 'ignore' });
    return () => client.kill();
  };
}

test('reads the hello of Bun, which is larger than a TCP segment', async () => {
  const hello = await captureHello(
    dialTls({ servername: HOST, ALPNProtocols: ['h2', 'http/1.1'] }),
  );

  expect(hello.serverName).toBe(HOST);
  expect(hello.alpnProtocols()).toEqual(['h2', 'http/1.1']);
  expect(hello.supportedVersions()).toContain(0x0304);
  expect(hello.end).toBe(hello.bytes.length);
  // With a post-quantum key share (X25519MLKEM768), about as long as that of kubectl.
  expect(hello.bytes.length).toBeGreaterThan(1460);
});

test('reads the hello of a client limited to TLS 1.2', async () => {
  const hello = await captureHello(
    dialTls({ servername: 'TENANT-A.example', maxVersion: 'TLSv1.2' }),
  );

  expect(hello.serverName).toBe('tenant-a.example');
  expect(hello.supportedVersions()).toEqual([0x0303]);
});

test('returns no name if the client dials an address', async () => {
  const hello = await captureHello(dialTls({}));

  expect(hello.serverName).toBeUndefined();
});

const hasOpenssl = Bun.which('openssl') !== null;

test.skipIf(!hasOpenssl)('reads the hello of openssl s_client', async () => {
  const hello = await captureHello(
    dialWith((port) => {
      const target = ['-connect', `127.0.0.1:${port}`, '-servername', HOST];
      return ['openssl', 's_client', ...target, '-alpn', 'h2'];
    }),
  );

  expect(hello.serverName).toBe(HOST);
  expect(hello.alpnProtocols()).toEqual(['h2']);
  expect(hello.supportedVersions()).toContain(0x0304);
});

test.skipIf(!hasOpenssl)('reads a TLS 1.2 hello without a server name', async () => {
  const hello = await captureHello(
    dialWith((port) => {
      const target = ['-connect', `127.0.0.1:${port}`, '-noservername'];
      return ['openssl', 's_client', ...target, '-tls1_2'];
    }),
  );

  expect(hello.serverName).toBeUndefined();
  expect(hello.supportedVersions()).toEqual([0x0303]);
});

test.skipIf(Bun.which('curl') === null)('reads the hello of curl', async () => {
  const hello = await captureHello(
    dialWith((port) => {
      const url = `https://${HOST}:${port}/`;
      return ['curl', '--silent', '--noproxy', '*', '--resolve', `${HOST}:${port}:127.0.0.1`, url];
    }),
  );

  expect(hello.serverName).toBe(HOST);
  expect(hello.alpnProtocols()).toContain('http/1.1');
});
