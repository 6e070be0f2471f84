/**
 * A stream between TLS and a socket: it splits the ClientHello as configured, and logs the received records.
 */
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { RecordLog } from './record-log.ts';
import type { HelloShape } from './hello-shape.ts';

/** The pause between two pieces of a ClientHello: long enough for a distant edge to see the first one alone. */
const SEGMENT_PAUSE_MS = 40;

const RECORD_HEADER_BYTES = 5;

/** A connection. Each direction ends when that of the socket ends. */
export class ShapedTransport extends Duplex {
  readonly records = new RecordLog();
  /**
   * Whether the end of TLS also ends TCP. Writes before it are then buffered, and sent together with the FIN. Otherwise
   * a fast response could arrive before an edge that cuts half-closed connections has seen the FIN.
   */
  isFinishing = false;
  readonly #socket: Socket;
  readonly #shape: HelloShape;
  readonly #ended = Promise.withResolvers<void>();
  #hello = Buffer.alloc(0);
  #isHelloSent = false;
  readonly #last: Buffer[] = [];

  constructor(socket: Socket, shape: HelloShape) {
    super({ allowHalfOpen: true });
    this.#socket = socket;
    this.#shape = shape;
    // Sends each piece as a separate segment.
    socket.setNoDelay(true);
    socket.on('data', (chunk: Buffer) => {
      this.records.add(chunk);
      if (!this.destroyed) this.push(chunk);
    });
    socket.on('end', () => {
      this.#ended.resolve();
      if (!this.destroyed) this.push(null);
    });
    socket.on('error', (error) => this.destroy(error));
    socket.on('close', () => {
      this.#ended.resolve();
      this.destroy();
    });
  }

  /** Resolves when the other side has ended, with a FIN or a reset. */
  get ended(): Promise<void> {
    return this.#ended.promise;
  }

  // No backpressure: TLS consumes everything, and the responses are small.
  override _read(): void {}

  override _write(chunk: Buffer, _encoding: string, done: (error?: Error | null) => void): void {
    if (this.isFinishing) {
      this.#last.push(chunk);
      done();
      return;
    }
    if (this.#isHelloSent) {
      this.#socket.write(chunk, done);
      return;
    }
    this.#hello = Buffer.concat([this.#hello, chunk]);
    if (!isCompleteRecord(this.#hello)) {
      done();
      return;
    }
    this.#isHelloSent = true;
    this.#send(this.#shape(this.#hello)).then(() => done(), done);
  }

  /** When TLS ends because the other side ended it, TCP is not ended, since the other side's FIN is still to come. */
  override _final(done: (error?: Error | null) => void): void {
    if (this.isFinishing) this.#socket.end(Buffer.concat(this.#last), done);
    else done();
  }

  /** Keeps the socket until {@link close}. */
  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    done(error);
  }

  /** Closes the stream and the socket. */
  close(): void {
    this.destroy();
    this.#socket.destroy();
  }

  async #send(pieces: readonly Buffer[]): Promise<void> {
    for (const [index, piece] of pieces.entries()) {
      if (index > 0) await sleep(SEGMENT_PAUSE_MS);
      if (this.#socket.destroyed) return;
      this.#socket.write(piece);
    }
  }
}

function isCompleteRecord(bytes: Buffer): boolean {
  return (
    bytes.length >= RECORD_HEADER_BYTES &&
    bytes.length >= RECORD_HEADER_BYTES + bytes.readUInt16BE(3)
  );
}
