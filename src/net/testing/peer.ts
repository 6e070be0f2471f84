/** For tests only: both ends of a connection, client and backend, which record what arrives on their sockets. */
import type { Socket, SocketHandler, TCPSocketListener, TCPSocketListenOptions } from 'bun';

/** Waits until the condition holds. @throws after the deadline, with the description of the condition. */
export async function until(
  condition: () => boolean,
  description: string,
  deadlineMs = 200_000,
): Promise<void> {
  const end = performance.now() + deadlineMs;
  while (!condition()) {
    if (performance.now() > end) throw new Error(`not within ${deadlineMs} ms: ${description}`);
    await Bun.sleep(1);
  }
}

const MAX_RECORDED_BYTES = 1 << 20;

/** One end of a connection. It reads everything that arrives, unless paused. */
export class Peer {
  /** The number of bytes received. */
  received = 0;
  readonly hash = new Bun.CryptoHasher('sha256');
  readonly #recorded: Uint8Array[] = [];
  /** Whether the FIN of the other end has arrived. */
  sawFin = false;
  /** Whether the socket is closed, by a reset or not. */
  closed = false;
  wasReset = false;
  /** Called for each chunk. */
  onData: (chunk: Uint8Array) => void = () => {};

  #blockedSinceMs = Infinity;
  #socket: Socket<Peer> | undefined;
  #unsent: Uint8Array | undefined;
  #sent: (() => void) | undefined;

  static readonly handlers: SocketHandler<Peer> = {
    binaryType: 'uint8array',
    open: (socket) => void (socket.data.#socket = socket),
    data: (socket, chunk) => socket.data.#receive(chunk),
    drain: (socket) => socket.data.#flush(),
    end: (socket) => void (socket.data.sawFin = true),
    close: (socket, error) => socket.data.#close(error),
    error: (_socket, error) => {
      throw error;
    },
  };

  /** Connects as a client. The server may reset the connection so early that connecting fails. */
  static async dial(port: number, address = '127.0.0.1'): Promise<Peer> {
    const peer = new Peer();
    const options: TCPSocketListenOptions<Peer> = {
      hostname: address,
      port,
      allowHalfOpen: true,
      socket: Peer.handlers,
      data: peer,
    };
    try {
      await Bun.connect<Peer>(options);
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'ECONNRESET')) throw error;
      peer.#close(error);
    }
    return peer;
  }

  attach(socket: Socket<Peer>): void {
    this.#socket = socket;
  }

  /** Whether no byte has been sent for a while because all buffers on the path are full. */
  get isBlocked(): boolean {
    return performance.now() - this.#blockedSinceMs > 50;
  }

  /** Returns the first bytes received, one megabyte at most. */
  bytes(): Buffer {
    return Buffer.concat(this.#recorded);
  }

  /** Resolves when the kernel has accepted all bytes, or the connection is closed. */
  async send(bytes: Uint8Array): Promise<void> {
    if (this.closed) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#unsent = bytes;
    this.#sent = resolve;
    this.#flush();
    await promise;
  }

  fin(): void {
    this.#socket?.shutdown();
  }

  reset(): void {
    this.#socket?.terminate();
  }

  close(): void {
    this.#socket?.end();
  }

  pause(): void {
    this.#socket?.pause();
  }

  resume(): void {
    if (!this.closed) this.#socket?.resume();
  }

  #receive(chunk: Uint8Array): void {
    if (this.received < MAX_RECORDED_BYTES) this.#recorded.push(chunk);
    this.received += chunk.length;
    this.hash.update(chunk);
    this.onData(chunk);
  }

  #flush(): void {
    if (this.#unsent === undefined || this.#socket === undefined) return;
    const written = Math.max(0, this.#socket.write(this.#unsent));
    if (written < this.#unsent.length) {
      this.#unsent = this.#unsent.subarray(written);
      this.#blockedSinceMs = performance.now();
      return;
    }
    this.#blockedSinceMs = Infinity;
    this.#unsent = undefined;
    this.#sent?.();
  }

  #close(error: Error | undefined): void {
    this.closed = true;
    if (error === undefined) this.sawFin = true;
    else this.wasReset = true;
    this.#unsent = undefined;
    this.#sent?.();
  }
}

/** A listener that records the connections it accepts. */
export class Backend implements Disposable {
  readonly peers: Peer[] = [];
  readonly #listener: TCPSocketListener<Peer>;
  #taken = 0;

  /** `onPeer` is called for each connection, before its first byte. */
  constructor(address = '127.0.0.1', onPeer: (peer: Peer) => void = () => {}) {
    this.#listener = Bun.listen<Peer>({
      hostname: address,
      port: 0,
      allowHalfOpen: true,
      socket: {
        ...Peer.handlers,
        open: (socket) => {
          socket.data = new Peer();
          socket.data.attach(socket);
          this.peers.push(socket.data);
          onPeer(socket.data);
        },
      },
    });
  }

  get port(): number {
    return this.#listener.port;
  }

  /** Returns the next connection, in order of arrival. */
  async next(): Promise<Peer> {
    await until(() => this.peers.length > this.#taken, 'a connection at the backend');
    const peer = this.peers[this.#taken++];
    if (peer === undefined) throw new Error('the backend lost a connection');
    return peer;
  }

  /** Stops listening and resets open connections. */
  [Symbol.dispose](): void {
    this.#listener.stop();
    for (const peer of this.peers) peer.reset();
  }
}
