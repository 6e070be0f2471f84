import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { connect, createServer as createTcpServer, type AddressInfo, type Socket } from 'node:net';
import { ManualClock } from '../../../clock/manual-clock.ts';
import { TestAuthority } from '../../../net/testing/certificates.ts';
import { until } from '../../../net/testing/peer.ts';
import { allOf, errorOf, TransportLab, VERSION, type LabTime } from '../testing/lab.ts';
import {
  startScriptedServer,
  type OnFrame,
  type ScriptedServer,
} from '../testing/scripted-http2.ts';
import { Transport, type Call } from '../transport.ts';
import {
  DEFAULT_WINDOW,
  FLAG,
  frame,
  FRAME,
  numberFrame,
  SETTING,
  settingsFrame,
} from './frames.ts';
import { Http2RoundTripper } from './http2-round-tripper.ts';

const WATCH: Call = { verb: 'GET', path: '/watch' };
const MAX_STREAMS = SETTING.maxConcurrentStreams;
const REFUSED = 0x7;

let lab: TransportLab;
let server: Bun.Server<undefined>;
let url: string;
/** The client ports of the connections that carried requests. */
const ports = new Set<number>();

beforeEach(async () => {
  lab = await TransportLab.open();
  ports.clear();
  server = serve(0);
  url = `https://127.0.0.1:${server.port}`;
});

afterEach(async () => {
  await server.stop(true);
  await lab[Symbol.asyncDispose]();
});

function serve(port: number): Bun.Server<undefined> {
  const { cert, key } = lab.serving;
  return Bun.serve({
    hostname: '127.0.0.1',
    port,
    idleTimeout: 0,
    tls: { cert, key },
    http2: true,
    http1: false,
    async fetch(request, self) {
      ports.add(self.requestIP(request)?.port ?? 0);
      const { pathname, search } = new URL(request.url);
      if (pathname === '/watch') return new Response(endless());
      if (pathname === '/large') return new Response(Buffer.concat(LARGE));
      if (pathname.startsWith('/status/')) {
        const status = Number(pathname.slice('/status/'.length));
        return Response.json({ message: 'no' }, { status, headers: { 'retry-after': '17' } });
      }
      const { method, headers } = request;
      const said = {
        path: `${pathname}${search}`,
        authorization: headers.get('authorization'),
        type: headers.get('content-type'),
        length: (await request.text()).length,
      };
      return Response.json({ method, ...said }, { status: 201 });
    },
  });
}

const LARGE = Array.from({ length: 64 }, (_, index) => Buffer.alloc(64 * 1024, index));

function endless(): ReadableStream<string> {
  return new ReadableStream({ start: (controller) => controller.enqueue('{}\n') });
}

/** Starts a server that is scripted frame by frame. */
async function scripted(onFrame: OnFrame): Promise<ScriptedServer> {
  return startScriptedServer(lab.serving, onFrame);
}

/** Starts a server that accepts connections and never responds. */
async function silentServer(onConnection: (socket: Socket) => void = () => {}) {
  const accepted: Socket[] = [];
  const silent = createTcpServer((socket) => {
    accepted.push(socket.on('error', () => {}));
    onConnection(socket);
  });
  await new Promise<void>((resolve) => {
    silent.listen(0, '127.0.0.1', () => resolve());
  });
  const { port } = silent.address() as AddressInfo;
  const close = () => {
    for (const socket of accepted) socket.destroy();
    silent.close();
  };
  return { accepted, at: `https://127.0.0.1:${port}`, close };
}

function headers(id: number, block: readonly number[], isEnd: boolean): Buffer {
  const flags = FLAG.endHeaders | (isEnd ? FLAG.endStream : 0);
  return frame(FRAME.headers, flags, id, Buffer.from(block));
}

const DATA = Buffer.from('{}');

function json(id: number): Buffer {
  return frame(FRAME.data, FLAG.endStream, id, DATA);
}

function transport(
  more: Parameters<TransportLab['access']>[0] = {},
  time: LabTime = {},
): Transport {
  const access = lab.access({ server: url, ...more });
  return new Transport(access, {
    timeoutMs: time.clock === undefined ? 120_000 : 10_000,
    userAgent: 'snicket/test',
    responseBytes: 8 * 1024 * 1024,
    roundTripper: new Http2RoundTripper(access, time.clock),
    ...time,
  });
}

describe('an HTTP/2 connection', () => {
  test('carries requests with their headers and bodies, larger than a window', async () => {
    const credentials = { kind: 'token', token: 'abc' } as const;
    const body = { text: 'x'.repeat(300_000) };

    const response = await transport({ credentials }).json({ verb: 'POST', path: '/a?b=c', body });

    expect(response).toEqual({
      method: 'POST',
      path: '/a?b=c',
      authorization: 'Bearer abc',
      type: 'application/json',
      length: JSON.stringify(body).length,
    });
  });

  test('carries many concurrent watches and requests', async () => {
    const client = transport();
    const watches = await Promise.all(Array.from({ length: 20 }, async () => client.stream(WATCH)));
    await Promise.all(Array.from({ length: 20 }, async () => client.json(VERSION)));

    for (const watch of watches) {
      expect(Buffer.from((await watch.read()) ?? []).toString()).toBe('{}\n');
      watch.close();
    }
    expect(ports.size).toBe(1);
  });

  test('delivers more bytes than the buffers hold, in order', async () => {
    const client = transport();
    const slow = await client.stream({ verb: 'GET', path: '/large' });
    // The window of this response is full. Another response must still arrive.
    await client.json(VERSION);

    expect(Bun.hash(await allOf(slow))).toBe(Bun.hash(Buffer.concat(LARGE)));
    expect(ports.size).toBe(1);
  });

  test.each([
    [404, 'NotFound'],
    [409, 'Conflict'],
    [429, 'Throttled'],
    [503, 'ServerError'],
  ] as const)('reports status %d as %s', async (status, reason) => {
    const error = await errorOf(transport().json({ verb: 'GET', path: `/status/${status}` }));

    expect(error.reason).toBe(reason);
    if (status === 429) expect(error.retryAfterMs).toBe(17_000);
  });

  test('does not carry a request that may no longer be sent when the handshake is complete', async () => {
    const sockets: Socket[] = [];
    const { at, close } = await silentServer((socket) => sockets.push(socket));
    const fault = new Error('may not send');
    let maySend = true;
    const assertMaySend = () => {
      if (!maySend) throw fault;
    };
    const client = transport({ server: at });
    const asked = client
      .json({ verb: 'PUT', path: '/a', body: {}, assertMaySend })
      .catch((error: unknown) => error);
    await until(() => sockets.length === 1, 'a connection');
    maySend = false;

    const onward = connect(server.port ?? 0, '127.0.0.1');
    sockets[0]!.pipe(onward).pipe(sockets[0]!);

    expect(await asked).toBe(fault);
    expect(ports.size).toBe(0);
    expect(await client.json(VERSION)).toMatchObject({ path: '/version' });
    onward.destroy();
    close();
  });

  test('does not carry a retry that may no longer be sent', async () => {
    let maySend = true;
    let requests = 0;
    const peer = await scripted(({ type }, send) => {
      if (type !== FRAME.headers) return;
      requests++;
      maySend = false;
      send(frame(FRAME.goAway, 0, 0, Buffer.alloc(8)));
    });
    const fault = new Error('may not send');
    const assertMaySend = () => {
      if (!maySend) throw fault;
    };

    const asked = transport({ server: peer.at }).json({ ...VERSION, assertMaySend });

    expect(await asked.catch((error: unknown) => error)).toBe(fault);
    expect(requests).toBe(1);
    for (const socket of peer.sockets) socket.destroy();
    peer.server.close();
  });

  test('does not send the end of a body that may no longer be sent', async () => {
    let maySend = true;
    let bytes = 0;
    const after: string[] = [];
    const peer = await scripted(({ type, streamId, flags, payload }, send) => {
      if (type === FRAME.resetStream) after.push(`reset ${payload.readUInt32BE(0)}`);
      if (type !== FRAME.data) return;
      if ((flags & FLAG.endStream) !== 0) {
        after.push('complete');
        send(frame(FRAME.headers, FLAG.endHeaders | FLAG.endStream, streamId, Buffer.from([0x88])));
      }
      bytes += payload.length;
      if (bytes !== DEFAULT_WINDOW) return;
      maySend = false;
      for (const id of [0, streamId]) send(numberFrame(FRAME.windowUpdate, id, 1_000_000));
    });
    const fault = new Error('may not send');
    const assertMaySend = () => {
      if (!maySend) throw fault;
    };
    const client = transport({ server: peer.at });
    const body = { text: 'x'.repeat(300_000) };

    const asked = client.json({ verb: 'PUT', path: '/a', body, assertMaySend });

    expect(await asked.catch((error: unknown) => error)).toBe(fault);
    await until(() => after.length > 0, 'the reset');
    expect(after).toEqual(['reset 8']);
    for (const socket of peer.sockets) socket.destroy();
    peer.server.close();
  });

  test('is replaced when the server is about to close it, while its watches continue', async () => {
    const OK = Buffer.from([0x88]);
    const peer = await scripted(({ type, streamId }, send, connection) => {
      if (type !== FRAME.headers) return;
      send(frame(FRAME.headers, FLAG.endHeaders, streamId, OK));
      const isWatch = streamId === 1 && connection === 1;
      if (!isWatch) send(frame(FRAME.data, FLAG.endStream, streamId, Buffer.from('{}')));
    });
    const client = transport({ server: peer.at });
    const watch = await client.stream(WATCH);
    const goAway = Buffer.alloc(8);
    goAway.writeUInt32BE(1);
    peer.sockets[0]!.write(frame(FRAME.goAway, 0, 0, goAway));
    peer.sockets[0]!.write(frame(FRAME.data, 0, 1, Buffer.from('after')));
    expect(Buffer.from((await watch.read()) ?? []).toString()).toBe('after');

    expect(await client.json(VERSION)).toEqual({});
    expect(peer.sockets).toHaveLength(2);

    peer.sockets[0]!.write(frame(FRAME.data, FLAG.endStream, 1, Buffer.from('end')));
    expect((await allOf(watch)).toString()).toBe('end');
    peer.server.close();
  });

  test('is closed if the server answers neither a request nor a ping', async () => {
    const peer = await scripted(() => {});
    const clock = new ManualClock();
    const failed = errorOf(transport({ server: peer.at }, { clock }).json(VERSION));
    await until(() => peer.sockets.length === 1, 'a connection');
    let isClosed = false;
    peer.sockets[0]!.on('close', () => (isClosed = true));

    // The request times out after 10 s, the connection 5 s later.
    await until(() => {
      clock.advance(1_000);
      return isClosed;
    }, 'the end of the connection');

    expect((await failed).reason).toBe('TimedOut');
    peer.server.close();
  });

  test('stays open if the server answers pings but no requests', async () => {
    const requests: number[] = [];
    const peer = await scripted(({ type, flags, streamId, payload }, send) => {
      if (type === FRAME.headers) {
        requests.push(streamId);
        if (streamId === 1) send(headers(1, [0x88], false));
      }
      if (type !== FRAME.ping || flags !== 0) return;
      send(frame(FRAME.ping, FLAG.ack, 0, payload));
      send(frame(FRAME.data, 0, 1, Buffer.from('alive')));
    });
    const clock = new ManualClock();
    const client = transport({ server: peer.at }, { clock });
    const watch = await client.stream(WATCH);
    for (let round = 1; round <= 2; round++) {
      const failed = errorOf(client.json(VERSION));
      await until(() => requests.length === 1 + round, 'the request');
      clock.advance(10_000);
      expect((await failed).reason).toBe('TimedOut');
      expect(Buffer.from((await watch.read()) ?? []).toString()).toBe('alive');
    }

    expect(peer.sockets).toHaveLength(1);
    watch.close();
    peer.server.close();
  });

  test('is replaced at once after a request without a response', async () => {
    const peer = await scripted(({ type, streamId }, send, connection) => {
      if (type !== FRAME.headers || connection === 1) return;
      send(Buffer.concat([headers(streamId, [0x88], false), json(streamId)]));
    });
    const clock = new ManualClock();
    const client = transport({ server: peer.at }, { clock });
    const failed = errorOf(client.json(VERSION));
    await until(() => peer.sockets.length === 1, 'a connection');
    clock.advance(10_000);
    expect((await failed).reason).toBe('TimedOut');

    expect(await client.json(VERSION)).toEqual({});

    for (const socket of peer.sockets) socket.destroy();
    peer.server.close();
  });

  test('is complemented by others if the server allows few concurrent requests', async () => {
    const open = new Map<number, number>();
    const peer = await scripted(({ type, flags, streamId }, send, connection) => {
      if (type === FRAME.settings && flags === 0) send(settingsFrame([[MAX_STREAMS, 2]]));
      if (type !== FRAME.headers) return;
      open.set(connection, (open.get(connection) ?? 0) + 1);
      send(Buffer.concat([headers(streamId, [0x88], false), frame(FRAME.data, 0, streamId, DATA)]));
    });
    const client = transport({ server: peer.at });

    const watches = [];
    for (let number = 1; number <= 8; number++) watches.push(await client.stream(WATCH));

    for (const watch of watches) {
      expect(Buffer.from((await watch.read()) ?? []).toString()).toBe('{}');
    }
    expect([...open.values()]).toEqual([2, 2, 2, 2]);
    for (const watch of watches) watch.close();
    peer.server.close();
  });

  test('is complemented by others if more requests wait for its handshake than the server allows', async () => {
    const peer = await scripted(({ type, flags, streamId }, send) => {
      if (type === FRAME.settings && flags === 0) send(settingsFrame([[MAX_STREAMS, 2]]));
      if (type !== FRAME.headers) return;
      send(Buffer.concat([headers(streamId, [0x88], false), json(streamId)]));
    });
    const client = transport({ server: peer.at });
    await client.json(VERSION); // the next ones share a connection that allows two at a time

    const all = await Promise.all(Array.from({ length: 40 }, async () => client.json(VERSION)));

    expect(all).toEqual(Array.from({ length: 40 }, () => ({})));
    expect(peer.sockets.every(({ alpnProtocol }) => alpnProtocol === 'h2')).toBe(true);
    for (const socket of peer.sockets) socket.destroy();
    peer.server.close();
  });

  test('is replaced at once after a request that was canceled during the handshake', async () => {
    const { accepted, at, close } = await silentServer();
    const client = transport({ server: at });
    for (let round = 1; round <= 2; round++) {
      const givenUp = new AbortController();
      const failed = errorOf(client.json({ ...VERSION, signal: givenUp.signal }));
      await until(() => accepted.length === round, `connection ${round}`);
      givenUp.abort();
      expect((await failed).reason).toBe('Aborted');
    }

    close();
  });

  test('is not used with another certificate', async () => {
    const certs = await Promise.all(
      ['a', 'b'].map(async (name) => lab.authority.issue({ names: [name] })),
    );
    let current = certs[0]!;
    const access = lab.access({ server: url });
    const tripper = new Http2RoundTripper(access);
    for (const pair of [...certs, ...certs.slice(1)]) {
      current = pair;
      const response = await tripper.fetch(
        {
          method: 'GET',
          url: `${url}/version`,
          headers: {},
          body: undefined,
          identity: { cert: current.cert, key: current.key },
        },
        () => {},
      );
      expect(response.status).toBe(201);
    }

    expect(ports.size).toBe(2);
  });

  test('is replaced during its handshake by one with another certificate, and no request is lost', async () => {
    const certs = await Promise.all(
      ['a', 'b'].map(async (name) => lab.authority.issue({ names: [name] })),
    );
    const tripper = new Http2RoundTripper(lab.access({ server: url }));

    const responses = await Promise.all(
      certs.map(async ({ cert, key }) =>
        tripper.fetch(
          { method: 'GET', url: `${url}/`, headers: {}, body: undefined, identity: { cert, key } },
          () => {},
        ),
      ),
    );

    expect(responses.map(({ status }) => status)).toEqual([201, 201]);
  });
});

describe('a server', () => {
  test('that supports only HTTP/1.1 is reached with HTTP/1.1', async () => {
    const client = transport({ server: lab.server.url });

    expect(await client.json(VERSION)).toEqual({ ok: true });
    const watch = await client.stream(WATCH);
    expect(await allOf(watch)).not.toHaveLength(0);
  });

  test('that violates the protocol is reached with HTTP/1.1 for ten minutes', async () => {
    // A frame of 1 MB, which no client must accept.
    const peer = await scripted(({ type, streamId }, send) => {
      if (type === FRAME.headers) send(Buffer.from([16, 0, 0, FRAME.data, 0, 0, 0, 0, streamId]));
    });
    const clock = new ManualClock();
    const client = transport({ server: peer.at }, { clock });
    const protocols = [];
    for (const minutes of [0, 0, 9, 1]) {
      clock.advance(minutes * 60_000);
      const asked = errorOf(client.json(VERSION));
      await until(() => peer.sockets.length === protocols.length + 1, 'another connection');
      const socket = peer.sockets.at(-1)!;
      protocols.push(socket.alpnProtocol);
      if (socket.alpnProtocol !== 'h2') socket.destroy();
      expect((await asked).reason).toBe('Unreachable');
    }

    expect(protocols).toEqual(['h2', 'http/1.1', 'http/1.1', 'h2']);
    peer.server.close();
  });

  test('that refuses every request gets few connections, of which at most one stays open', async () => {
    const peer = await scripted(({ type, flags, streamId }, send) => {
      if (type === FRAME.settings && flags === 0) send(settingsFrame([[MAX_STREAMS, 0]]));
      if (type === FRAME.headers) send(numberFrame(FRAME.resetStream, streamId, REFUSED));
    });
    const client = transport({ server: peer.at });

    for (let calls = 1; calls <= 5; calls++) {
      expect((await errorOf(client.json(VERSION))).reason).toBe('Unreachable');
    }

    expect(peer.sockets.length).toBeLessThanOrEqual(15);
    const open = () => peer.sockets.filter(({ closed }) => !closed);
    await until(() => open().length <= 1, 'the end of the connections');
    for (const socket of peer.sockets) socket.destroy();
    peer.server.close();
  });

  test('that accepts connections and stays silent gets two for a request', async () => {
    const { accepted, at, close } = await silentServer();
    const clock = new ManualClock();
    let isFailed = false;
    const failed = errorOf(transport({ server: at }, { clock }).json(VERSION)).finally(
      () => (isFailed = true),
    );
    await until(() => accepted.length === 1, 'a connection');

    await until(() => {
      clock.advance(500);
      return isFailed;
    }, 'the end of the request');

    await failed;
    expect(accepted.length).toBeLessThanOrEqual(2);
    close();
  });

  test('with one address that hangs and one that refuses is not dialed repeatedly', async () => {
    let dials = 0;
    const { at, close } = await silentServer((socket) => {
      if (++dials > 1) socket.destroy();
    });
    const clock = new ManualClock();
    const failed = errorOf(transport({ server: at }, { clock }).json(VERSION));
    await until(() => dials === 1, 'a connection');
    let isFailed = false;
    void failed.then(() => (isFailed = true));

    await until(() => {
      clock.advance(500);
      return isFailed && dials === 2;
    }, 'the end of the request, and the other connection');

    expect((await failed).reason).toBe('TimedOut');
    expect(dials).toBe(2);
    close();
  });

  test('with one slow address and one that refuses is awaited', async () => {
    const sockets: Socket[] = [];
    const { at, close } = await silentServer((socket) => {
      if (sockets.push(socket) === 2) socket.destroy();
    });
    const clock = new ManualClock();
    const asked = transport({ server: at }, { clock }).json(VERSION);
    await until(() => sockets.length === 1, 'a connection');
    clock.advance(3_000);
    await until(() => sockets[1]?.destroyed === true, 'another connection, and its end');

    const [slow] = sockets;
    const onward = connect(server.port ?? 0, '127.0.0.1');
    slow!.pipe(onward).pipe(slow!);

    expect(await asked).toMatchObject({ path: '/version' });
    expect(sockets).toHaveLength(2);
    close();
  });

  test('that refuses every dial is unreachable at once', async () => {
    const error = await errorOf(transport({ server: 'https://255.255.255.255:443' }).json(VERSION));

    expect(error.reason).toBe('Unreachable');
  });

  test('that accepts a connection and stays silent does not delay later requests', async () => {
    const { accepted, at, close } = await silentServer();
    const clock = new ManualClock();
    const client = transport({ server: at }, { clock });

    for (let round = 1; round <= 2; round++) {
      const failed = errorOf(client.json(VERSION));
      await until(() => accepted.length === round, `connection ${round}`);
      clock.advance(10_000);
      expect((await failed).reason).toBe('TimedOut');
    }

    close();
  });

  test.each([
    [
      'ends a response with an informational head',
      (id: number) => headers(id, [0x08, 3, 49, 48, 48], true),
    ],
    [
      'sends a body for a request that was never made',
      () => frame(FRAME.data, 0, 9, Buffer.alloc(1)),
    ],
    ['sends headers for the connection', () => headers(0, [0x88], false)],
    ['sends a ping of another length', () => frame(FRAME.ping, 0, 0, Buffer.alloc(9))],
  ])('that %s does not make a request hang', async (_, response) => {
    const peer = await scripted(({ type, streamId }, send) => {
      if (type === FRAME.headers) send(response(streamId));
    });

    const error = await errorOf(transport({ server: peer.at }).json(VERSION));
    expect(error.reason).toBe('Unreachable');
    expect(error.message).toMatch(/: the server violates HTTP\/2: .* \(ERR_HTTP2_ERROR\)$/);

    for (const socket of peer.sockets) socket.destroy();
    peer.server.close();
  });

  test('that pings without end and does not read loses its connection', async () => {
    let isClosed = false;
    const peer = await scripted(({ type }) => {
      const [socket] = peer.sockets;
      if (type !== FRAME.headers || socket === undefined) return;
      socket.on('close', () => (isClosed = true));
      socket.pause();
      const pings = Buffer.concat(
        Array.from({ length: 1000 }, () => frame(FRAME.ping, 0, 0, Buffer.alloc(8))),
      );
      const flood = () => {
        if (!socket.destroyed) socket.write(pings, () => setImmediate(flood));
      };
      flood();
    });

    const error = await errorOf(transport({ server: peer.at }).json(VERSION));

    expect(error.reason).toBe('Unreachable');
    peer.sockets[0]!.resume();
    await until(() => isClosed, 'the end of the connection');
    peer.server.close();
  });

  test('that acknowledges pings that were never sent does not keep an idle connection open', async () => {
    let isClosed = false;
    const peer = await scripted(({ type, streamId }, send) => {
      if (type !== FRAME.headers) return;
      send(Buffer.concat([headers(streamId, [0x88], false), json(streamId)]));
      send(frame(FRAME.ping, FLAG.ack, 0, Buffer.alloc(8)));
    });
    peer.server.on('secureConnection', (socket) => socket.on('close', () => (isClosed = true)));
    const clock = new ManualClock();
    await transport({ server: peer.at }, { clock }).json(VERSION);

    await until(() => {
      clock.advance(1_000);
      return isClosed;
    }, 'the end of the connection');

    peer.server.close();
  });

  test('that is about to close a connection gets unprocessed requests on another one', async () => {
    const peer = await scripted(({ type, streamId }, send, connection) => {
      if (type !== FRAME.headers) return;
      if (connection === 1) send(frame(FRAME.goAway, 0, 0, Buffer.alloc(8)));
      else send(Buffer.concat([headers(streamId, [0x88], false), json(streamId)]));
    });

    expect(await transport({ server: peer.at }).json(VERSION)).toEqual({});

    expect(peer.sockets).toHaveLength(2);
    for (const socket of peer.sockets) socket.destroy();
    peer.server.close();
  });

  test('of another CA is not trusted', async () => {
    const other = await TestAuthority.create();

    const error = await errorOf(transport({ ca: other.cert }).json(VERSION));

    expect(error.reason).toBe('Untrusted');
  });

  test('of another name is not trusted', async () => {
    const error = await errorOf(transport({ serverName: 'other' }).json(VERSION));

    expect(error.reason).toBe('Untrusted');
  });

  test('that is down is unreachable, and reachable after its restart', async () => {
    const client = transport();
    const port = server.port ?? 0;
    await server.stop(true);
    expect((await errorOf(client.json(VERSION))).reason).toBe('Unreachable');

    server = serve(port);

    expect(await client.json(VERSION)).toMatchObject({ path: '/version' });
  });
});
