/**
 * For tests only: a minimal edge with injectable faults.
 */
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { ClientHello } from '../../../wire/hello/client-hello.ts';
import { PROXY_FIRST_BYTE, ProxyHeader } from '../../../wire/proxy-header.ts';

/** The faults of the edge. Default: none. */
export interface EdgeFaults {
  /** Parses only the first chunk. If it has no server name, the client goes to the first host, or gets no response. */
  readonly readsOnce?: 'misroutes' | 'holds';
  /** Parses only the first record. A client with several records is refused, or goes to the first host. */
  readonly firstRecord?: 'refuses' | 'misroutes';
  /** Refuses larger ClientHellos. */
  readonly maxHelloBytes?: number;
  readonly isCaseSensitive?: boolean;
  /** Refuses clients without TLS 1.3. */
  readonly refusesTls12?: boolean;
  /** Routes clients to the first host, never responds, or responds in plain text. Default: closes the connection. */
  readonly noName?: UnknownNamePolicy;
  readonly unknownName?: UnknownNamePolicy;
  /** Routes this host to the first one. */
  readonly misroutes?: string;
  /** When one side closes, the other is closed immediately. */
  readonly cutsHalfClose?: boolean;
  /** The close of this side is not forwarded. */
  readonly dropsEndOf?: 'client' | 'server';
  /** Resets both sides after this idle time. */
  readonly cutsIdleMs?: number;
  /** Forwards nothing more after this idle time. */
  readonly stallsAfterIdleMs?: number;
  readonly maxConnections?: number;
  /** Resets both sides after this many bytes of the client. */
  readonly cutsAfterBytes?: number;
  /** Whether a PROXY header is accepted or required. Default: it is refused, since it is not a ClientHello. */
  readonly proxyHeader?: 'taken' | 'required';
}

/** What the edge does with a client without the name of a known host. */
type UnknownNamePolicy = 'first' | 'holds' | 'clear';

/** A running edge. */
export class MisbehavingEdge implements AsyncDisposable {
  readonly #server: Server;
  readonly #routes: ReadonlyMap<string, number>;
  readonly #faults: EdgeFaults;
  readonly #sockets = new Set<Socket>();
  #open = 0;

  private constructor(server: Server, routes: ReadonlyMap<string, number>, faults: EdgeFaults) {
    this.#server = server;
    this.#routes = routes;
    this.#faults = faults;
    server.on('connection', (client: Socket) => void this.#serve(client));
  }

  /** Starts an edge. Routes are ports of this machine, by host. The first is the target of misrouting. */
  static async start(
    routes: ReadonlyMap<string, number>,
    faults: EdgeFaults = {},
  ): Promise<MisbehavingEdge> {
    const server = createServer({ allowHalfOpen: true, noDelay: true });
    const edge = new MisbehavingEdge(server, routes, faults);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return edge;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    const closed = once(this.#server, 'close');
    this.#server.close();
    await closed;
  }

  async #serve(client: Socket): Promise<void> {
    this.#watch(client);
    this.#open++;
    client.once('close', () => this.#open--);
    if (this.#open > (this.#faults.maxConnections ?? Infinity)) {
      client.destroy();
      return;
    }
    const opening = await this.#opening(client);
    if (opening === undefined) {
      client.destroy();
      return;
    }
    const port = this.#portFor(opening.name);
    if (typeof port === 'number') this.#relay(client, port, opening.bytes);
    else if (port === 'clear') client.end('HTTP/1.1 400 Bad Request\r\n\r\n');
    else if (port !== 'holds') client.destroy();
  }

  /** Returns the bytes to forward with the server name in them, or undefined if the client is refused. */
  async #opening(
    client: Socket,
  ): Promise<{ readonly bytes: Buffer; readonly name: string | undefined } | undefined> {
    const { firstRecord, readsOnce, maxHelloBytes, refusesTls12, isCaseSensitive } = this.#faults;
    let bytes = Buffer.alloc(0);
    const hello = new ClientHello();
    for await (const chunk of chunksOf(client)) {
      bytes = Buffer.concat([bytes, chunk]);
      const start = this.#headerEnd(bytes);
      if (start === undefined) return undefined;
      const outcome = hello.read(bytes, bytes.length, start);
      const rest = bytes.subarray(start);
      const [firstName] = this.#routes.keys();
      if (outcome === 'hello') {
        if (rest.length > (maxHelloBytes ?? Infinity)) return undefined;
        if (refusesTls12 === true && !hello.supportedVersions()?.includes(0x0304)) return undefined;
        const isUpper = rest.includes(hello.serverName?.toUpperCase() ?? 'no name');
        if (isCaseSensitive === true && isUpper) return undefined;
        const hasMore = rest.length > 5 + rest.readUInt16BE(3);
        if (firstRecord === 'misroutes' && hasMore) return { bytes: rest, name: firstName };
        return firstRecord === 'refuses' && hasMore
          ? undefined
          : { bytes: rest, name: hello.serverName };
      }
      if (outcome !== 'incomplete') return undefined;
      if (readsOnce === 'misroutes') return { bytes: rest, name: firstName };
      if (readsOnce === 'holds') await once(client, 'close');
    }
    return undefined;
  }

  #headerEnd(bytes: Buffer): number | undefined {
    const hasHeader = bytes[0] === PROXY_FIRST_BYTE;
    const { proxyHeader } = this.#faults;
    if (!hasHeader) return proxyHeader === 'required' ? undefined : 0;
    const header = new ProxyHeader();
    const isRead = header.read(bytes, bytes.length) === 'header';
    return proxyHeader !== undefined && isRead ? header.end : undefined;
  }

  #portFor(name: string | undefined): number | UnknownNamePolicy | undefined {
    const { noName, unknownName, misroutes } = this.#faults;
    const [first] = this.#routes.values();
    if (name !== undefined && name === misroutes) return first;
    const known = this.#routes.get(name ?? '');
    if (known !== undefined) return known;
    const policy = name === undefined ? noName : unknownName;
    return policy === 'first' ? first : policy;
  }

  #relay(client: Socket, port: number, opening: Buffer): void {
    const upstream = connect({ host: '127.0.0.1', port, allowHalfOpen: true, noDelay: true });
    this.#watch(upstream);
    upstream.write(opening);
    this.#pass(client, upstream, 'client');
    this.#pass(upstream, client, 'server');
    const reset = () => {
      client.destroy();
      upstream.destroy();
    };
    client.once('close', () => upstream.destroy());
    upstream.once('close', () => client.destroy());
    this.#whenIdle([client, upstream], this.#faults.cutsIdleMs, reset);
    this.#whenIdle([client, upstream], this.#faults.stallsAfterIdleMs, () => {
      client.removeAllListeners('data').resume();
    });
    let sent = 0;
    client.on('data', (chunk: Buffer) => {
      sent += chunk.length;
      if (sent > (this.#faults.cutsAfterBytes ?? Infinity)) reset();
    });
  }

  #pass(from: Socket, to: Socket, closedBy: 'client' | 'server'): void {
    from.on('data', (chunk: Buffer) => void to.write(chunk));
    from.on('end', () => {
      if (this.#faults.dropsEndOf === closedBy) return;
      if (this.#faults.cutsHalfClose === true) from.destroy();
      to.end();
    });
    from.resume();
  }

  #whenIdle(sockets: readonly Socket[], afterMs: number | undefined, act: () => void): void {
    if (afterMs === undefined) return;
    let timer = setTimeout(act, afterMs);
    for (const socket of sockets) {
      socket.on('data', () => {
        clearTimeout(timer);
        timer = setTimeout(act, afterMs);
      });
      socket.once('close', () => clearTimeout(timer));
    }
  }

  #watch(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on('close', () => this.#sockets.delete(socket));
    // Clients that disconnect are expected.
    socket.on('error', () => socket.destroy());
  }
}

/** Yields the chunks of a socket until another reader takes over. */
async function* chunksOf(socket: Socket): AsyncGenerator<Buffer> {
  while (!socket.readableEnded && !socket.destroyed) {
    const { promise, resolve } = Promise.withResolvers<Buffer | undefined>();
    const onData = (chunk: Buffer) => {
      socket.pause();
      resolve(chunk);
    };
    const onEnd = () => resolve(undefined);
    socket.once('data', onData).once('end', onEnd).once('close', onEnd);
    socket.resume();
    const chunk = await promise;
    socket.off('data', onData).off('end', onEnd).off('close', onEnd);
    if (chunk === undefined) return;
    yield chunk;
  }
}
