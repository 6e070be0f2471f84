/**
 * What TLS writes and reads, between it and a socket: the hello goes out in a form of one's choice, and what comes is
 * seen record by record.
 */
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { RecordLog } from './record-log.ts';
import type { HelloShape } from './hello-shape.ts';

/** Between two pieces of a hello: enough for an edge on the other side of the world to see the first one alone. */
const PIECE_PAUSE_MS = 40;

const RECORD_HEADER_BYTES = 5;

/** One connection. Its end is the socket's end, in either direction. */
export class ShapedTransport extends Duplex {
  readonly records = new RecordLog();
  /**
   * Whether the end of TLS, when it comes, is to be the end of TCP too. What is written before it is then held back, and
   * goes out with the end right behind it: else a fast answer could be here before whoever cuts has seen the end.
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
    // Each piece is a segment of its own.
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

  /** Done when the other side has ended, by a FIN or a reset. */
  get ended(): Promise<void> {
    return this.#ended.promise;
  }

  // TLS takes what comes, and the answers are small: there is nothing to hold back.
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
    if (!isWholeRecord(this.#hello)) {
      done();
      return;
    }
    this.#isHelloSent = true;
    this.#send(this.#shape(this.#hello)).then(() => done(), done);
  }

  /** When TLS ends because the other side did, nothing is said by TCP: its end of TCP is still to come. */
  override _final(done: (error?: Error | null) => void): void {
    if (this.isFinishing) this.#socket.end(Buffer.concat(this.#last), done);
    else done();
  }

  /** The socket stays until {@link close}. */
  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    done(error);
  }

  /** Ends all of it. */
  close(): void {
    this.destroy();
    this.#socket.destroy();
  }

  async #send(pieces: readonly Buffer[]): Promise<void> {
    for (const [index, piece] of pieces.entries()) {
      if (index > 0) await sleep(PIECE_PAUSE_MS);
      if (this.#socket.destroyed) return;
      this.#socket.write(piece);
    }
  }
}

function isWholeRecord(bytes: Buffer): boolean {
  return (
    bytes.length >= RECORD_HEADER_BYTES &&
    bytes.length >= RECORD_HEADER_BYTES + bytes.readUInt16BE(3)
  );
}
