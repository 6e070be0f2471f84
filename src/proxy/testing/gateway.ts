/**
 * For tests only: a minimal gateway. It reads and verifies a signed header, and forwards the bytes after it to the API
 * server. It resets connections whose header is not valid.
 */
import { createServer, connect, type AddressInfo, type Server, type Socket } from 'node:net';
import { once } from 'node:events';
import { ProxyHeader } from '../../wire/proxy-header.ts';
import { ReplayGuard } from '../../wire/replay-guard.ts';
import { verifyTenantHeader } from '../../wire/tenant-header.ts';
import type { TenantKey } from '../../wire/tenant-key.ts';

/** The content of a header. */
export interface ReceivedHeader {
  readonly outcome: string;
  readonly authority: string | undefined;
  readonly source: string;
  readonly destination: string;
  readonly end: { readonly port: number };
}

/** A running gateway. */
export class TestGateway implements AsyncDisposable {
  readonly port: number;
  readonly receivedHeaders: ReceivedHeader[] = [];
  /** The keys that it accepts. */
  keys: readonly TenantKey[];
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #guard = new ReplayGuard({ windowSeconds: 60 });

  private constructor(server: Server, apiPort: number, keys: readonly TenantKey[]) {
    this.#server = server;
    this.keys = keys;
    this.port = (server.address() as AddressInfo).port;
    server.on('connection', (socket) => {
      this.#track(socket);
      let first = Buffer.alloc(0);
      const read = (chunk: Buffer): void => {
        first = Buffer.concat([first, chunk]);
        const header = new ProxyHeader();
        if (header.read(first, first.length) === 'incomplete') return;
        socket.off('data', read);
        socket.pause();
        if (!this.#admits(header, socket)) return;
        this.#forward(socket, apiPort, first.subarray(header.end));
      };
      socket.on('data', read);
    });
  }

  static async start(
    apiPort: number,
    keys: readonly TenantKey[],
    port = 0,
    address = '127.0.0.1',
  ): Promise<TestGateway> {
    const server = createServer({ allowHalfOpen: true });
    server.listen(port, address);
    await once(server, 'listening');
    return new TestGateway(server, apiPort, keys);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    const closed = once(this.#server, 'close');
    this.#server.close();
    await closed;
  }

  #admits(header: ProxyHeader, socket: Socket): boolean {
    const outcome = verifyTenantHeader(header, this.keys, Date.now() / 1000, 60, this.#guard);
    const addresses = header.addresses();
    this.receivedHeaders.push({
      outcome,
      authority: header.authority(),
      source: `${addresses?.source.address}:${addresses?.source.port}`,
      destination: `${addresses?.destination.address}:${addresses?.destination.port}`,
      end: { port: socket.remotePort ?? 0 },
    });
    if (outcome === 'valid') return true;
    socket.resetAndDestroy();
    return false;
  }

  #forward(socket: Socket, apiPort: number, rest: Buffer): void {
    const upstream = connect({ port: apiPort, host: '127.0.0.1', allowHalfOpen: true });
    this.#track(upstream);
    upstream.write(rest);
    socket.pipe(upstream);
    upstream.pipe(socket);
    socket.on('close', () => upstream.destroy());
    upstream.on('close', () => socket.destroy());
  }

  #track(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => this.#sockets.delete(socket));
  }
}
