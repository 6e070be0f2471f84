import { afterEach, describe, expect, test } from 'bun:test';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { portOf, relay } from './relay.ts';

const host = '127.0.0.1';
let servers: Server[] = [];
let sockets: Socket[] = [];

afterEach(() => {
  for (const socket of sockets) socket.destroy();
  for (const server of servers) server.close();
  servers = [];
  sockets = [];
});

/** Connects through a relay. Returns the sockets of the client and the target, and the relay's socket to the client. */
async function connectThrough(): Promise<{ client: Socket; target: Socket; relayed: Socket }> {
  const accepted = Promise.withResolvers<Socket>();
  const targetServer = createServer({ allowHalfOpen: true }, accepted.resolve);
  targetServer.listen(0, host);
  await once(targetServer, 'listening');
  const server = await relay({ host, port: portOf(targetServer) }, { host, port: 0 });
  servers.push(targetServer, server);
  const connected = once(server, 'connection');
  const client = connect({ host, port: portOf(server), allowHalfOpen: true });
  sockets.push(client);
  const target = await accepted.promise;
  sockets.push(target);
  const [relayed] = (await connected) as [Socket];
  return { client, target, relayed };
}

describe('bytes pass', () => {
  test('from the client to the target', async () => {
    const { client, target } = await connectThrough();

    client.write('question');
    const [received] = await once(target, 'data');

    expect(String(received)).toBe('question');
  });

  test('from the target to the client, before the client sends', async () => {
    const { client, target } = await connectThrough();

    target.write('greeting');
    const [received] = await once(client, 'data');

    expect(String(received)).toBe('greeting');
  });

  test('unchanged both ways at once, in a transfer larger than all buffers', async () => {
    const { client, target } = await connectThrough();
    const [up, down] = [randomBytes(8 << 20), randomBytes(8 << 20)];

    client.end(up);
    target.end(down);
    const digests = await Promise.all([digestOfAll(target), digestOfAll(client)]);

    expect(digests).toEqual([digestOf(up), digestOf(down)]);
  });
});

describe('a half-closed side', () => {
  test('still receives the response, as the client', async () => {
    const { client, target } = await connectThrough();
    client.end('question');
    const question = await textOfAll(target);

    target.end('answer');
    const answer = await textOfAll(client);

    expect(question).toBe('question');
    expect(answer).toBe('answer');
  });

  test('still receives the response, as the target', async () => {
    const { client, target } = await connectThrough();
    target.end('greeting');
    const greeting = await textOfAll(client);

    client.end('reply');
    const reply = await textOfAll(target);

    expect(greeting).toBe('greeting');
    expect(reply).toBe('reply');
  });

  test('that closes, as the target, does not discard data that the client has not read', async () => {
    const { client, target, relayed } = await connectThrough();
    client.pause();
    client.end();
    await textOfAll(target);
    const sent = createHash('sha256');

    // Sends until the kernel buffers are full and the relay buffers data for the client.
    while (relayed.writableLength === 0) {
      const bytes = randomBytes(64 << 10);
      sent.update(bytes);
      await new Promise((resolve) => target.write(bytes, resolve));
      await new Promise(setImmediate);
    }
    target.end();
    await once(target, 'close');
    const received = await digestOfAll(client);

    expect(received).toBe(sent.digest('hex'));
  });
});

describe('a side that breaks', () => {
  test('closes the target, as the client', async () => {
    const { client, target } = await connectThrough();
    const closed = closeOf(target);

    client.resetAndDestroy();

    expect(await closed).toBe('closed');
  });

  test('closes the client, as the target', async () => {
    const { client, target } = await connectThrough();
    const closed = closeOf(client);

    target.resetAndDestroy();

    expect(await closed).toBe('closed');
  });

  test('closes the target, as a half-closed client', async () => {
    const { client, target } = await connectThrough();
    client.end('question');
    await textOfAll(target);
    target.on('error', () => {});
    const closed = new Promise<string>((resolve) => target.once('close', () => resolve('closed')));

    client.resetAndDestroy();
    // The target has already read the end of the stream. Only its writes can still fail.
    const answer = () => target.write('answer', () => setImmediate(answer));
    answer();

    expect(await closed).toBe('closed');
  });

  test('closes one client after the other, as a target that refuses', async () => {
    const server = await relay({ host, port: 1 }, { host, port: 0 });
    servers.push(server);

    const first = await closeOf(dial(server));
    const second = await closeOf(dial(server));

    expect([first, second]).toEqual(['closed', 'closed']);
  });
});

test('a port in use is an error', async () => {
  const taken = await relay({ host, port: 1 }, { host, port: 0 });
  servers.push(taken);

  const second = relay({ host, port: 1 }, { host, port: portOf(taken) });

  expect(await second.catch((error: unknown) => error)).toMatchObject({ code: 'EADDRINUSE' });
});

function dial(server: Server): Socket {
  const socket = connect({ host, port: portOf(server) });
  sockets.push(socket);
  return socket;
}

/** Resolves when the other side has ended or reset the connection. */
async function closeOf(socket: Socket): Promise<string> {
  socket.resume();
  socket.on('error', () => {});
  await new Promise((resolve) => socket.once('end', resolve).once('close', resolve));
  return 'closed';
}

async function digestOfAll(socket: Socket): Promise<string> {
  const hash = createHash('sha256');
  socket.on('data', (chunk) => hash.update(chunk)).resume();
  await once(socket, 'end');
  return hash.digest('hex');
}

async function textOfAll(socket: Socket): Promise<string> {
  let text = '';
  socket.on('data', (chunk) => (text += String(chunk)));
  await once(socket, 'end');
  return text;
}

function digestOf(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}
