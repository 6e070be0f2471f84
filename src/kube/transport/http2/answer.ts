/** One request on a connection of many, and its answer. */
import type { Answer } from '../body.ts';
import { ByteCollector } from '../byte-collector.ts';
import { DEFAULT_WINDOW } from './frames.ts';

/** How much of an answer may wait to be read: the server is allowed to send this much. */
export const STREAM_WINDOW = 1024 * 1024;

/** What an answer needs of its connection. */
export interface AnswerConnection {
  /** So many bytes of the answer were read: the server may send as many again. */
  consumed(streamId: number, bytes: number): void;
  /** Nothing more is wanted. `hasHead`: the server had begun to answer. */
  canceled(streamId: number, hasHead: boolean): void;
}

/** The answer to one request. While it waits for bytes, there is one promise and little else. */
export class Http2Answer implements Answer {
  readonly id: number;
  /** What may be sent of the body. */
  sendWindow = DEFAULT_WINDOW;
  /** What is left of the body. */
  unsent: Buffer | undefined;
  status = 0;
  retryAfter: string | undefined;
  readonly #connection: AnswerConnection;
  readonly #unread = new ByteCollector();
  /** Received since the server was last allowed to send more. */
  #unacknowledged = 0;
  #receivedBytes = 0;
  #isComplete = false;
  #failure: Error | undefined;
  #opening: PromiseWithResolvers<void> | undefined;
  #reading: PromiseWithResolvers<Uint8Array | undefined> | undefined;

  constructor(id: number, connection: AnswerConnection) {
    this.id = id;
    this.#connection = connection;
  }

  /** Ends when the head has come. @throws Error with the code of the system or of OpenSSL */
  async opened(): Promise<void> {
    this.#opening = Promise.withResolvers();
    const { promise } = this.#opening;
    this.#settle();
    await promise;
  }

  async read(): Promise<Uint8Array | undefined> {
    this.#reading = Promise.withResolvers();
    const { promise } = this.#reading;
    this.#settle();
    return promise;
  }

  /** Nothing more is wanted. */
  close(): void {
    if ((this.#isComplete && this.status !== 0) || this.#failure !== undefined) return;
    this.failed(new Error('closed here'));
    this.#connection.canceled(this.id, this.status !== 0);
  }

  head(status: number, retryAfter: string | undefined): void {
    this.status = status;
    this.retryAfter = retryAfter;
    this.#settle();
  }

  /** Returns false if the server sent more than it was allowed to. */
  received(bytes: Uint8Array, windowBytes: number): boolean {
    this.#receivedBytes += windowBytes;
    if (this.#receivedBytes > STREAM_WINDOW) return false;
    this.#unacknowledged += windowBytes - bytes.length;
    // A copy: the bytes belong to the socket.
    if (bytes.length > 0) this.#unread.add(new Uint8Array(bytes));
    this.#settle();
    return true;
  }

  completed(): void {
    this.#isComplete = true;
    this.#settle();
  }

  failed(error: Error): void {
    this.#failure ??= error;
    this.#settle();
  }

  #taken(): Uint8Array | undefined {
    if (this.#unread.length === 0) return undefined;
    const bytes = this.#unread.take();
    if (this.#isComplete) return bytes;
    this.#unacknowledged += bytes.length;
    if (this.#unacknowledged < STREAM_WINDOW / 2) return bytes;
    this.#connection.consumed(this.id, this.#unacknowledged);
    this.#receivedBytes -= this.#unacknowledged;
    this.#unacknowledged = 0;
    return bytes;
  }

  #settle(): void {
    const failure = this.#failure;
    if (this.#opening !== undefined) {
      const { resolve, reject } = this.#opening;
      if (this.status !== 0) resolve();
      else if (failure !== undefined) reject(failure);
      else return;
      this.#opening = undefined;
    }
    if (this.#reading !== undefined) {
      const { resolve, reject } = this.#reading;
      const bytes = this.#taken();
      if (bytes !== undefined || this.#isComplete) resolve(bytes);
      else if (failure !== undefined) reject(failure);
      else return;
      this.#reading = undefined;
    }
  }
}
