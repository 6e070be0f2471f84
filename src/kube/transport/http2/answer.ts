/** One request on a connection of many, and its answer. */
import { ByteCollector } from '../byte-collector.ts';
import { WaitedAnswer } from '../waited-answer.ts';
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

/** The answer to one request. */
export class Http2Answer extends WaitedAnswer {
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
  protected isComplete = false;

  constructor(id: number, connection: AnswerConnection) {
    super();
    this.id = id;
    this.#connection = connection;
  }

  /** Nothing more is wanted. */
  close(): void {
    if ((this.isComplete && this.status !== 0) || this.failure !== undefined) return;
    this.failed(new Error('closed here'));
    this.#connection.canceled(this.id, this.status !== 0);
  }

  head(status: number, retryAfter: string | undefined): void {
    this.status = status;
    this.retryAfter = retryAfter;
    this.settle();
  }

  /** Returns false if the server sent more than it was allowed to. */
  received(bytes: Uint8Array, windowBytes: number): boolean {
    this.#receivedBytes += windowBytes;
    if (this.#receivedBytes > STREAM_WINDOW) return false;
    this.#unacknowledged += windowBytes - bytes.length;
    // A copy: the bytes belong to the socket.
    if (bytes.length > 0) this.#unread.add(new Uint8Array(bytes));
    this.settle();
    return true;
  }

  completed(): void {
    this.isComplete = true;
    this.settle();
  }

  failed(error: Error): void {
    this.failure ??= error;
    this.settle();
  }

  protected taken(): Uint8Array | undefined {
    if (this.#unread.length === 0) return undefined;
    const bytes = this.#unread.take();
    if (this.isComplete) return bytes;
    this.#unacknowledged += bytes.length;
    if (this.#unacknowledged < STREAM_WINDOW / 2) return bytes;
    this.#connection.consumed(this.id, this.#unacknowledged);
    this.#receivedBytes -= this.#unacknowledged;
    this.#unacknowledged = 0;
    return bytes;
  }
}
