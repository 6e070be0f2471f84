import { ByteCollector } from '../byte-collector.ts';
import { reset } from '../connection-error.ts';

/** A server that makes us send and does not read. */
const MAX_UNSENT_BYTES = 8 * 1024 * 1024;
/** Most of them would be answers to pings and settings. */
const MAX_UNSENT_FRAMES = 10_000;

/** What takes bytes: a socket. Returns how many it took, or a negative number. */
export interface ByteSink {
  write(bytes: Uint8Array): number;
}

/** Sends frames to a server, which may read slowly. */
export class FrameWriter {
  readonly #fail: (error: Error) => void;
  #sink: ByteSink | undefined;
  /** What the socket has not taken yet. */
  readonly #unsent = new ByteCollector();
  #unsentFrames = 0;
  /** Frames that are sent together: each write is a record of TLS and a call of the system. */
  #corked: Uint8Array[] | undefined;

  constructor(fail: (error: Error) => void) {
    this.#fail = fail;
  }

  /** From now on frames go to this socket; those before are lost. */
  connected(sink: ByteSink): void {
    this.#sink = sink;
  }

  /** Whether the socket has not taken yet what was sent. */
  get isBlocked(): boolean {
    return this.#unsent.length > 0;
  }

  send(bytes: Uint8Array): void {
    if (this.#sink === undefined) return;
    if (this.#corked !== undefined) {
      this.#corked.push(bytes);
      return;
    }
    if (this.#unsent.length === 0) {
      this.#write(bytes);
      return;
    }
    this.#unsent.add(bytes);
    this.#unsentFrames++;
    if (this.#unsent.length > MAX_UNSENT_BYTES || this.#unsentFrames > MAX_UNSENT_FRAMES) {
      this.#fail(reset('the server does not read what is sent'));
    }
  }

  /** Sends in one piece what `run` sends. */
  together(run: () => void): void {
    if (this.#corked !== undefined) {
      run();
      return;
    }
    const corked: Uint8Array[] = [];
    this.#corked = corked;
    try {
      run();
    } finally {
      this.#corked = undefined;
    }
    const [first] = corked;
    if (first !== undefined) this.send(corked.length === 1 ? first : Buffer.concat(corked));
  }

  /** The socket takes bytes again. */
  drain(): void {
    if (this.#unsent.length === 0) return;
    this.#unsentFrames = 0;
    this.#write(this.#unsent.take());
  }

  /** Nothing is sent any more. */
  close(): void {
    this.#sink = undefined;
    this.#unsent.take();
  }

  #write(bytes: Uint8Array): void {
    const count = Math.max(0, this.#sink?.write(bytes) ?? 0);
    if (count < bytes.length) this.#unsent.add(Buffer.from(bytes.subarray(count)));
  }
}
