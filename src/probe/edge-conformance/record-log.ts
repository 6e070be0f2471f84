/**
 * What is visible of TLS without its keys: the records, and the unencrypted handshake messages.
 */

const HEADER_BYTES = 5;
const ALERT = 21;
const HANDSHAKE = 22;
const APPLICATION_DATA = 23;

/**
 * The size of an encrypted alert in TLS 1.3: two bytes, its actual type, and the tag of every cipher of that version.
 */
const SEALED_ALERT_BYTES = 2 + 1 + 16;

/** The type and length before each handshake message. */
const MESSAGE_HEADER_BYTES = 4;

/** The maximum of buffered handshake bytes. An unencrypted handshake is not longer. */
const MAX_HANDSHAKE_BYTES = 64 * 1024;

/** Types of handshake messages (RFC 5246, section 7.4). */
export const MESSAGES = { serverHello: 2, certificateRequest: 13 } as const;

/** The received records, from pieces of any size. */
export class RecordLog {
  readonly #header = Buffer.alloc(HEADER_BYTES);
  #headerBytes = 0;
  #remainingBytes = 0;
  readonly #handshake: Buffer[] = [];
  #handshakeBytes = 0;

  /** Adds the next bytes. */
  add(chunk: Buffer): void {
    for (let at = 0; at < chunk.length;) {
      if (this.#remainingBytes > 0) {
        const content = chunk.subarray(at, at + this.#remainingBytes);
        this.#remainingBytes -= content.length;
        at += content.length;
        this.#buffer(content);
        continue;
      }
      // The previous record is complete.
      if (this.#headerBytes === HEADER_BYTES) this.#headerBytes = 0;
      const taken = chunk.copy(this.#header, this.#headerBytes, at);
      this.#headerBytes += taken;
      at += taken;
      if (this.#headerBytes === HEADER_BYTES) this.#remainingBytes = this.#header.readUInt16BE(3);
    }
  }

  /**
   * Whether the last received record is an alert, which ends TLS in an orderly way. It cannot be created without the
   * keys, and so not by an edge that cuts a connection.
   */
  get endsWithAlert(): boolean {
    if (this.#headerBytes < HEADER_BYTES || this.#remainingBytes > 0) return false;
    const type = this.#header[0];
    return (
      type === ALERT ||
      (type === APPLICATION_DATA && this.#header.readUInt16BE(3) === SEALED_ALERT_BYTES)
    );
  }

  /** Returns the types of the unencrypted messages: in TLS 1.3 only the ServerHello, in TLS 1.2 nearly all. */
  messageTypes(): readonly number[] {
    const bytes = Buffer.concat(this.#handshake);
    const types: number[] = [];
    for (let at = 0; at + MESSAGE_HEADER_BYTES <= bytes.length;) {
      types.push(bytes.readUInt8(at));
      at += MESSAGE_HEADER_BYTES + bytes.readUIntBE(at + 1, 3);
    }
    return types;
  }

  #buffer(content: Buffer): void {
    if (this.#header[0] !== HANDSHAKE || this.#handshakeBytes >= MAX_HANDSHAKE_BYTES) return;
    // A copy: a view would keep the whole chunk in memory.
    this.#handshake.push(Buffer.from(content));
    this.#handshakeBytes += content.length;
  }
}
