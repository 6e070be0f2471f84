/**
 * Collects bytes that arrive in pieces. The number of objects is bounded by the number of bytes, so a peer that sends
 * single bytes costs no more memory than any other.
 */

/** Pieces of at least this size are kept without copying. */
const LARGE_BYTES = 4096;
const MIN_TAIL_BYTES = 256;
const MAX_TAIL_BYTES = 16_384;

/** Bytes in order of arrival. */
export class ByteCollector {
  #chunks: Uint8Array[] = [];
  /** The buffer that small pieces are copied into. */
  #tail: Uint8Array | undefined;
  #tailBytes = 0;
  #length = 0;

  /** The number of bytes. */
  get length(): number {
    return this.#length;
  }

  /** The number of objects that hold them. */
  get chunkCount(): number {
    return this.#chunks.length + (this.#tail === undefined ? 0 : 1);
  }

  /** Adds bytes, which must not change afterwards. */
  add(bytes: Uint8Array): void {
    const isFirst = this.#length === 0;
    this.#length += bytes.length;
    if (isFirst || bytes.length >= LARGE_BYTES) {
      this.#closeTail();
      this.#chunks.push(bytes);
      return;
    }
    let tail = this.#tail;
    if (tail === undefined || tail.length - this.#tailBytes < bytes.length) {
      const doubled = 2 * (tail?.length ?? MIN_TAIL_BYTES);
      this.#closeTail();
      tail = new Uint8Array(Math.max(Math.min(doubled, MAX_TAIL_BYTES), bytes.length));
      this.#tail = tail;
    }
    tail.set(bytes, this.#tailBytes);
    this.#tailBytes += bytes.length;
  }

  /** Returns all bytes, or the first `limit` bytes, and empties the collector. */
  take(limit: number = this.#length): Buffer {
    this.#closeTail();
    const [first] = this.#chunks;
    const isOne = this.#chunks.length === 1 && first !== undefined && first.length <= limit;
    const taken = isOne
      ? Buffer.from(first.buffer, first.byteOffset, first.byteLength)
      : Buffer.concat(this.#chunks, Math.min(limit, this.#length));
    this.#chunks = [];
    this.#length = 0;
    return taken;
  }

  #closeTail(): void {
    if (this.#tail !== undefined) this.#chunks.push(this.#tail.subarray(0, this.#tailBytes));
    this.#tail = undefined;
    this.#tailBytes = 0;
  }
}
