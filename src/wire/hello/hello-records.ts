/**
 * The record layer of a ClientHello: finds the handshake message in the records that carry it (RFC 8446 sections 4 and
 * 5.1). A client may split the message anywhere, even after each byte, and TCP may split the records elsewhere.
 */
import { uint16, uint8 } from '../bytes.ts';
import type { HelloRefusal } from '../outcome.ts';

const HANDSHAKE = 22;
const CLIENT_HELLO = 1;
const RECORD_HEADER_BYTES = 5;
const MAX_RECORD_BYTES = 2 ** 14;
const MESSAGE_HEADER_BYTES = 4;
const EMPTY: Buffer = Buffer.alloc(0);

/** A reader that is reused, so that a hello in one record allocates nothing. */
export class HelloRecords {
  /** After `message`: the buffer that holds the body of the hello, from {@link start} to {@link end}. */
  bytes: Buffer = EMPTY;
  start = 0;
  end = 0;
  /** The offset in the buffer after the last record. */
  recordsEnd = 0;

  readonly #limitBytes: number;
  /** The joined message of a hello in several records, which is rare. */
  #joined: Buffer = EMPTY;

  /** `limitBytes` covers all records with their headers, so a full buffer of that size always leads to a decision. */
  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes;
  }

  /**
   * Finds the message between `start` and `end`. It checks each byte as soon as it has arrived, in order. So a refused
   * hello stays refused for the same reason, however many bytes follow.
   */
  find(bytes: Buffer, start: number, end: number): 'message' | 'incomplete' | HelloRefusal {
    const limit = start + this.#limitBytes;
    let messageBytes = 0; // from the type to the end of the body; known after the fourth byte
    let headerSeen = 0;
    let gathered = 0;
    for (let record = start; ;) {
      if (record + RECORD_HEADER_BYTES >= limit) return 'hello_too_long';
      const fault = recordFault(bytes, record, end, record === start);
      if (fault !== undefined) return fault;

      const content = record + RECORD_HEADER_BYTES;
      const contentBytes = uint16(bytes, record + 3);
      const contentEnd = content + contentBytes;
      if (contentEnd > limit) return 'hello_too_long';

      // The four bytes of type and length may be split over records too.
      while (headerSeen < MESSAGE_HEADER_BYTES && headerSeen < gathered + contentBytes) {
        const at = content + headerSeen - gathered;
        if (at >= end) return 'incomplete';
        const byte = uint8(bytes, at);
        if (headerSeen === 0 && byte !== CLIENT_HELLO) return 'not_client_hello';
        if (headerSeen > 0) messageBytes = (messageBytes << 8) | byte;
        headerSeen++;
        if (headerSeen === MESSAGE_HEADER_BYTES) {
          messageBytes += MESSAGE_HEADER_BYTES;
          if (start + RECORD_HEADER_BYTES + messageBytes > limit) return 'hello_too_long';
        }
      }

      gathered += contentBytes;
      if (headerSeen === MESSAGE_HEADER_BYTES && gathered > messageBytes) {
        return 'record_overruns_hello';
      }
      if (contentEnd > end) return 'incomplete';
      if (headerSeen === MESSAGE_HEADER_BYTES && gathered === messageBytes) {
        this.recordsEnd = contentEnd;
        if (contentBytes === messageBytes) this.#setMessage(bytes, content, messageBytes);
        else this.#join(bytes, start, messageBytes);
        return 'message';
      }
      record = contentEnd;
    }
  }

  #setMessage(bytes: Buffer, message: number, messageBytes: number): void {
    this.bytes = bytes;
    this.start = message + MESSAGE_HEADER_BYTES;
    this.end = message + messageBytes;
  }

  /** Copies a message only when it is complete, so that a slow hello costs no copies. */
  #join(bytes: Buffer, start: number, messageBytes: number): void {
    if (this.#joined.length === 0) this.#joined = Buffer.allocUnsafeSlow(this.#limitBytes);
    let copied = 0;
    for (let record = start; copied < messageBytes;) {
      const content = record + RECORD_HEADER_BYTES;
      record = content + uint16(bytes, record + 3);
      copied += bytes.copy(this.#joined, copied, content, record);
    }
    this.#setMessage(this.#joined, 0, messageBytes);
  }
}

/** Returns what is wrong with the record header at `at`, as far as it has arrived. */
function recordFault(
  bytes: Buffer,
  at: number,
  end: number,
  isFirst: boolean,
): HelloRefusal | 'incomplete' | undefined {
  if (at < end && uint8(bytes, at) !== HANDSHAKE) {
    return isFirst ? nonTlsFault(bytes, at, end) : 'record_type_changed';
  }
  if (end - at < RECORD_HEADER_BYTES) return 'incomplete';
  // The minor version has no meaning (RFC 8446 section 5.1): 0x0301 and 0x0303 are both in use.
  if (uint8(bytes, at + 1) !== 3) return isFirst ? 'not_tls' : 'record_version_invalid';
  const contentBytes = uint16(bytes, at + 3);
  if (contentBytes === 0) return 'record_empty';
  return contentBytes > MAX_RECORD_BYTES ? 'record_too_long' : undefined;
}

/** Distinguishes a hello of SSL 2.0 (RFC 5246 appendix E.2) from bytes that are not TLS. */
function nonTlsFault(bytes: Buffer, at: number, end: number): HelloRefusal | 'incomplete' {
  const hasLengthBit = (uint8(bytes, at) & 0x80) !== 0;
  if (!hasLengthBit) return 'not_tls';
  if (end - at < 5) return 'incomplete';
  const version = uint16(bytes, at + 3);
  const isHello = uint8(bytes, at + 2) === CLIENT_HELLO;
  return isHello && (version === 2 || version >> 8 === 3) ? 'sslv2_hello' : 'not_tls';
}
