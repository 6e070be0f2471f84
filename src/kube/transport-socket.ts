/**
 * One request on a connection of its own, for an answer that goes on and on.
 *
 * Not by `fetch`: that allows 256 requests at once in the whole process, watches included, and a watch by it takes 27 KB
 * where this takes 13 (1,000 servers, three watches each, TLS). A connection is used once, so there is no pool.
 */
import type { Socket, SocketHandler, TLSOptions } from 'bun';
import { nameFault } from './transport-name.ts';
import { AnswerDecoder, BadAnswer } from './transport-answer.ts';
import type { Answer } from './transport-body.ts';

/** Where to connect, and how to know that it is the right one. */
export interface SocketTarget {
  readonly host: string;
  readonly port: number;
  /** Absent for plain TCP. */
  readonly tls: (TLSOptions & { readonly serverName: string }) | undefined;
}

/** Past this, the server is told to wait until what it sent is read. */
const MAX_UNREAD_BYTES = 1024 * 1024;

/** A connection with its one request. Nothing of it throws into Bun's event loop. */
export class SocketAnswer implements Answer {
  readonly #request: string;
  readonly #serverName: string | undefined;
  readonly #decoder = new AnswerDecoder();
  #socket: Socket<SocketAnswer> | undefined;
  #unread: Uint8Array[] = [];
  #unreadBytes = 0;
  /** Why nothing more will come, besides the proper end of the answer. */
  #failure: Error | undefined;
  #isClosed = false;
  /** What is left of the request. */
  #unsent: Uint8Array | undefined;
  /** Whoever waits for bytes, or for the head. */
  #wake: (() => void) | undefined;

  private constructor(request: string, serverName: string | undefined) {
    this.#request = request;
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
    // connectError has told the answer before.
    dial.catch((error: unknown) => answer.failed(error));
    return answer;
  }

  /** Ends when the head is there. @throws Error with the code of the system or of OpenSSL */
  async opened(): Promise<void> {
    while (this.#decoder.head === undefined) await this.#news();
  }

  get status(): number {
    return this.#decoder.head?.status ?? 0;
  }

  get retryAfter(): string | undefined {
    return this.#decoder.head?.headers.get('retry-after');
  }

  async read(): Promise<Uint8Array | undefined> {
    for (;;) {
      const bytes = this.#unread.shift();
      if (bytes !== undefined) {
        this.#unreadBytes -= bytes.length;
        if (this.#unreadBytes < MAX_UNREAD_BYTES) this.#socket?.resume();
        return bytes;
      }
      if (this.#decoder.isDone) return undefined;
      if (this.#isClosed && this.#decoder.endsWithConnection) return undefined;
      await this.#news();
    }
  }

  /** Nothing more is wanted. */
  close(): void {
    this.failed(new Error('closed here'));
  }

  connected(socket: Socket<SocketAnswer>): void {
    // Bun cannot take a dial back: one that nobody waits for any more ends here.
    if (this.#failure === undefined) this.#socket = socket;
    else socket.terminate();
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
    this.#unsent ??= Buffer.from(this.#request, 'latin1');
    if (this.#unsent.length === 0) return;
    const count = socket.write(this.#unsent);
    if (count > 0) this.#unsent = this.#unsent.subarray(count);
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
    if (this.#unreadBytes >= MAX_UNREAD_BYTES) socket.pause();
    this.#tell();
  }

  closed(error: Error | undefined): void {
    this.#isClosed = true;
    this.#failure ??= error ?? Object.assign(new Error('the connection ended'), { code: 'ECONNRESET' });
    this.#tell();
  }

  failed(error: unknown): void {
    this.#failure ??= error instanceof Error ? error : new Error(String(error));
    this.#socket?.terminate();
    this.#tell();
  }

  #tell(): void {
    const wake = this.#wake;
    this.#wake = undefined;
    wake?.();
  }

  /** Ends when something has come. @throws why nothing will */
  async #news(): Promise<void> {
    if (this.#failure !== undefined) throw this.#failure;
    await new Promise<void>((resolve) => (this.#wake = resolve));
  }
}
