/**
 * What can be seen of TLS without its keys: records, and the messages of a handshake as long as they are in the clear.
 */

const HEADER_BYTES = 5;
const ALERT = 21;
const HANDSHAKE = 22;
const APPLICATION_DATA = 23;

/** Of an alert in TLS 1.3: two bytes, its true type, and the tag of every cipher of that version. */
const SEALED_ALERT_BYTES = 2 + 1 + 16;

/** Type and length in front of each message of a handshake. */
const MESSAGE_HEADER_BYTES = 4;

/** A handshake in the clear is not longer; what comes behind it is not kept. */
const KEPT_BYTES = 64 * 1024;

/** Messages of a handshake (RFC 5246 section 7.4). */
export const MESSAGES = { serverHello: 2, certificateRequest: 13 } as const;

/** The records that came so far, in pieces of any size. */
export class RecordLog {
  readonly #header = Buffer.alloc(HEADER_BYTES);
  #headerBytes = 0;
  #contentLeft = 0;
  readonly #handshake: Buffer[] = [];
  #kept = 0;

  /** Takes the next bytes. */
  add(chunk: Buffer): void {
    for (let at = 0; at < chunk.length;) {
      if (this.#contentLeft > 0) {
        const content = chunk.subarray(at, at + this.#contentLeft);
        this.#contentLeft -= content.length;
        at += content.length;
        this.#keep(content);
        continue;
      }
      // The record before is over.
      if (this.#headerBytes === HEADER_BYTES) this.#headerBytes = 0;
      const taken = chunk.copy(this.#header, this.#headerBytes, at);
      this.#headerBytes += taken;
      at += taken;
      if (this.#headerBytes === HEADER_BYTES) this.#contentLeft = this.#header.readUInt16BE(3);
    }
  }

  /**
   * Whether the last record that came is an alert, as whoever ends TLS in good order sends it. Without its keys nobody can
   * make one, so an edge that cuts a connection cannot.
   */
  get endsWithAlert(): boolean {
    if (this.#headerBytes < HEADER_BYTES || this.#contentLeft > 0) return false;
    const type = this.#header[0];
    return (
      type === ALERT ||
      (type === APPLICATION_DATA && this.#header.readUInt16BE(3) === SEALED_ALERT_BYTES)
    );
  }

  /** The types of the messages that came in the clear: in TLS 1.3 the ServerHello alone, in TLS 1.2 nearly all. */
  messageTypes(): readonly number[] {
    const bytes = Buffer.concat(this.#handshake);
    const types: number[] = [];
    for (let at = 0; at + MESSAGE_HEADER_BYTES <= bytes.length;) {
      types.push(bytes.readUInt8(at));
      at += MESSAGE_HEADER_BYTES + bytes.readUIntBE(at + 1, 3);
    }
    return types;
  }

  #keep(content: Buffer): void {
    if (this.#header[0] !== HANDSHAKE || this.#kept >= KEPT_BYTES) return;
    // A copy: what is kept of a chunk would keep all of it.
    this.#handshake.push(Buffer.from(content));
    this.#kept += content.length;
  }
}
