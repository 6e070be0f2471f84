/**
 * A request and its response on a shared connection.
 */
import { ByteCollector } from '../byte-collector.ts';
import { PendingResponse } from '../pending-response.ts';
import { DEFAULT_WINDOW } from './frames.ts';

/** The flow-control window of a stream: the maximum of unread bytes of a response. */
export const STREAM_WINDOW = 1024 * 1024;

/** The connection of a response. */
export interface ResponseConnection {
  /** Reports bytes of the response that were read, so that the server may send as many again. */
  consumed(streamId: number, bytes: number): void;
  /** Cancels the request. `hasHead`: the server had started its response. */
  canceled(streamId: number, hasHead: boolean): void;
}

/** The response to one request. */
export class Http2Response extends PendingResponse {
  readonly id: number;
  /** How much of the request body may be sent. */
  sendWindow = DEFAULT_WINDOW;
  /** The rest of the request body. */
  unsent: Buffer | undefined;
  /** Called before the end of the request body is sent. The request is canceled and fails with what this throws. */
  assertMaySend: (() => void) | undefined;
  status = 0;
  retryAfter: string | undefined;
  readonly #connection: ResponseConnection;
  readonly #unread = new ByteCollector();
  /** Bytes received since the last window update. */
  #unacknowledged = 0;
  #receivedBytes = 0;
  protected isComplete = false;

  constructor(id: number, connection: ResponseConnection) {
    super();
    this.id = id;
    this.#connection = connection;
  }

  /** Cancels the request. */
  close(): void {
    if ((this.isComplete && this.status !== 0) || this.failure !== undefined) return;
    this.failed(new Error('closed here'));
    this.#connection.canceled(this.id, this.status !== 0);
  }

  head(status: number, retryAfter: string | undefined): void {
    this.status = status;
    this.retryAfter = retryAfter;
    this.update();
  }

  /** Returns false if the server exceeded its window. */
  received(bytes: Uint8Array, windowBytes: number): boolean {
    this.#receivedBytes += windowBytes;
    if (this.#receivedBytes > STREAM_WINDOW) return false;
    this.#unacknowledged += windowBytes - bytes.length;
    // A copy: the socket reuses the buffer.
    if (bytes.length > 0) this.#unread.add(new Uint8Array(bytes));
    this.update();
    return true;
  }

  completed(): void {
    this.isComplete = true;
    this.update();
  }

  failed(error: Error): void {
    this.failure ??= error;
    this.update();
  }

  protected nextBytes(): Uint8Array | undefined {
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
