import { ByteCollector } from '../byte-collector.ts';
import { reset } from '../connection-error.ts';

/** The maximum of buffered bytes if the server does not read. */
const MAX_UNSENT_BYTES = 8 * 1024 * 1024;
/** The maximum of buffered frames. They would mostly be acknowledgments of pings and settings. */
const MAX_UNSENT_FRAMES = 10_000;

/** A socket to write to. `write` returns how many bytes it took, or a negative number. */
interface ByteSink {
  write(bytes: Uint8Array): number;
}

/** Sends frames, and buffers them if the server reads slowly. */
export class FrameWriter {
  readonly #fail: (error: Error) => void;
  #sink: ByteSink | undefined;
  /** Bytes that the socket has not taken yet. */
  readonly #unsent = new ByteCollector();
  #unsentFrames = 0;
  /** Frames to send in one write: each write is a TLS record and a system call. */
  #corked: Uint8Array[] | undefined;

  constructor(fail: (error: Error) => void) {
    this.#fail = fail;
  }

  /** Sets the socket. Frames sent before are lost. */
  connected(sink: ByteSink): void {
    this.#sink = sink;
  }

  /** Whether sent bytes are still buffered. */
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
      this.#fail(reset('the server does not read'));
    }
  }

  /** Sends everything that `run` sends in one write. */
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

  /** Sends the buffered bytes when the socket is writable again. */
  drain(): void {
    if (this.#unsent.length === 0) return;
    this.#unsentFrames = 0;
    this.#write(this.#unsent.take());
  }

  /** Stops sending and drops the buffered bytes. */
  close(): void {
    this.#sink = undefined;
    this.#unsent.take();
  }

  #write(bytes: Uint8Array): void {
    const count = Math.max(0, this.#sink?.write(bytes) ?? 0);
    if (count < bytes.length) this.#unsent.add(Buffer.from(bytes.subarray(count)));
  }
}
