/**
 * One request on a connection of its own, for an answer that goes on and on.
 *
 * Not by `fetch`: that allows 256 requests at once in the whole process, watches included, and a watch by it takes 27 KB
 * where this takes 13 (1,000 servers, three watches each, TLS). A connection is used once, so there is no pool.
 */
import type { Socket, SocketHandler, TLSOptions } from 'bun';
import { nameFault } from './certificate-name.ts';
import { reset } from './connection-error.ts';
import { AnswerDecoder } from './answer.ts';
import { WaitedAnswer } from './waited-answer.ts';

/** Where to connect, and how to know that it is the right one. */
export interface SocketTarget {
  readonly host: string;
  readonly port: number;
  /** Absent for plain TCP. */
  readonly tls: (TLSOptions & { readonly serverName: string }) | undefined;
}

/** After so much silence the kernel asks whether the other side lives: a watch may have nothing to say for hours. */
const KEEPALIVE_MS = 30_000;
/** Past this, the server is told to wait until what it sent is read. */
const MAX_UNREAD_BYTES = 1024 * 1024;

/** A connection with its one request. */
export class SocketAnswer extends WaitedAnswer {
  readonly #serverName: string | undefined;
  readonly #decoder = new AnswerDecoder();
  #socket: Socket<SocketAnswer> | undefined;
  /** What is left of the request. */
  #unsent: Uint8Array | undefined;
  readonly #unread: Uint8Array[] = [];
  #unreadBytes = 0;
  #isPaused = false;
  /** The connection has ended as it should; whether the answer has is another question. */
  #isClosed = false;

  private constructor(request: string, serverName: string | undefined) {
    super();
    this.#unsent = Buffer.from(request, 'latin1');
    this.#serverName = serverName;
  }

  /** Connects and sends. Whoever calls must `close` it. */
  static open({ host, port, tls }: SocketTarget, request: string): SocketAnswer {
    const answer = new SocketAnswer(request, tls?.serverName);
    const common = { hostname: host, port, data: answer };
    const dial =
      tls === undefined
        ? Bun.connect<SocketAnswer>({ ...common, socket: PLAIN })
        : Bun.connect<SocketAnswer>({ ...common, tls, socket: SECURE });
    dial.catch((error: unknown) => answer.failed(error));
    return answer;
  }

  get status(): number {
    return this.#decoder.head?.status ?? 0;
  }

  get retryAfter(): string | undefined {
    return this.#decoder.head?.retryAfter;
  }

  /** Nothing more is wanted. */
  close(): void {
    this.failed(new Error('closed here'));
  }

  connected(socket: Socket<SocketAnswer>): void {
    // Bun cannot take a dial back: one that nobody waits for any more ends here.
    if (this.failure !== undefined) {
      socket.terminate();
      return;
    }
    this.#socket = socket;
    socket.setKeepAlive(true, KEEPALIVE_MS);
  }

  /** The handshake is through; who is it? */
  shaken(socket: Socket<SocketAnswer>, success: boolean, error: Error | null): void {
    const fault =
      error ??
      (success && socket.authorized ? undefined : new Error('the handshake was not completed')) ??
      nameFault(socket.getPeerX509Certificate(), this.#serverName ?? '');
    if (fault === undefined) this.send(socket);
    else this.failed(fault);
  }

  /** The request, or what is left of it. */
  send(socket: Socket<SocketAnswer>): void {
    if (this.#unsent === undefined) return;
    const count = Math.max(0, socket.write(this.#unsent));
    this.#unsent = count < this.#unsent.length ? this.#unsent.subarray(count) : undefined;
  }

  received(socket: Socket<SocketAnswer>, bytes: Uint8Array): void {
    try {
      for (const part of this.#decoder.push(bytes)) {
        this.#unread.push(part);
        this.#unreadBytes += part.length;
      }
    } catch (error) {
      this.failed(error);
      return;
    }
    if (this.#unreadBytes >= MAX_UNREAD_BYTES) {
      this.#isPaused = true;
      socket.pause();
    }
    this.settle();
  }

  closed(error: Error | undefined): void {
    this.#isClosed = error === undefined;
    this.failure ??= error ?? reset('the server ended the connection');
    this.settle();
  }

  failed(error: unknown): void {
    this.failure ??= error instanceof Error ? error : new Error(String(error));
    this.#socket?.terminate();
    this.settle();
  }

  protected get isComplete(): boolean {
    return this.#decoder.isDone || (this.#isClosed && this.#decoder.endsWithConnection);
  }

  protected taken(): Uint8Array | undefined {
    const bytes = this.#unread.shift();
    if (bytes === undefined) return undefined;
    this.#unreadBytes -= bytes.length;
    if (this.#isPaused && this.#unreadBytes < MAX_UNREAD_BYTES) {
      this.#isPaused = false;
      this.#socket?.resume();
    }
    return bytes;
  }
}

const COMMON: SocketHandler<SocketAnswer> = {
  data: (socket, bytes) => socket.data.received(socket, bytes),
  drain: (socket) => socket.data.send(socket),
  close: (socket, error) => socket.data.closed(error),
  error: (socket, error) => socket.data.failed(error),
  connectError: (socket, error) => socket.data.failed(error),
};

const PLAIN: SocketHandler<SocketAnswer> = {
  ...COMMON,
  open(socket) {
    socket.data.connected(socket);
    socket.data.send(socket);
  },
};

const SECURE: SocketHandler<SocketAnswer> = {
  ...COMMON,
  open: (socket) => socket.data.connected(socket),
  handshake: (socket, success, error) => socket.data.shaken(socket, success, error),
};
