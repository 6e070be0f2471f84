/**
 * Encodes and parses netlink messages: a header, a body, and attributes in the body. Numbers are in host byte order;
 * Bun supports little-endian hosts only.
 */
import { ACK_MESSAGE, ANSWER, TYPE } from './rtnetlink.ts';

const HEADER_BYTES = 16;
const ATTRIBUTE_HEADER_BYTES = 4;
const ALIGNMENT = 4;
/** The upper two bits of an attribute's type are flags. */
const ATTRIBUTE_TYPE = 0x3fff;

/** A netlink message. */
export interface NetlinkMessage {
  readonly type: number;
  readonly flags: number;
  /** An answer has the sequence number of its request. */
  readonly sequence: number;
  readonly body: Buffer;
}

/** The answer of the kernel to a request with the flag ACK. */
interface Acknowledgement {
  /** 0 means success. */
  readonly errno: number;
  /** The message of the kernel, if it has one. */
  readonly text: string | undefined;
}

/** Encodes a message. */
export function buildMessage({ type, flags, sequence, body }: NetlinkMessage): Buffer {
  const header = Buffer.alloc(HEADER_BYTES);
  header.writeUInt32LE(HEADER_BYTES + body.length, 0);
  header.writeUInt16LE(type, 4);
  header.writeUInt16LE(flags, 6);
  header.writeUInt32LE(sequence, 8);
  return Buffer.concat([header, body]);
}

/** Encodes an attribute, padded so that the next one may follow. */
export function buildAttribute(type: number, value: Uint8Array): Buffer {
  const length = ATTRIBUTE_HEADER_BYTES + value.length;
  const bytes = Buffer.alloc(aligned(length));
  bytes.writeUInt16LE(length, 0);
  bytes.writeUInt16LE(type, 2);
  bytes.set(value, ATTRIBUTE_HEADER_BYTES);
  return bytes;
}

/** Parses the messages of one datagram. @throws RangeError if it does not consist of messages. */
export function parseMessages(bytes: Buffer): NetlinkMessage[] {
  const messages: NetlinkMessage[] = [];
  for (let at = 0; at < bytes.length;) {
    const length = lengthAt(bytes, at, HEADER_BYTES, (from) => bytes.readUInt32LE(from));
    messages.push({
      type: bytes.readUInt16LE(at + 4),
      flags: bytes.readUInt16LE(at + 6),
      sequence: bytes.readUInt32LE(at + 8),
      body: bytes.subarray(at + HEADER_BYTES, at + length),
    });
    at += aligned(length);
  }
  return messages;
}

/**
 * Parses attributes by type. Of duplicates, the last one counts. @throws RangeError if the bytes are not attributes.
 */
export function parseAttributes(bytes: Buffer): ReadonlyMap<number, Buffer> {
  const attributes = new Map<number, Buffer>();
  for (let at = 0; at < bytes.length;) {
    const length = lengthAt(bytes, at, ATTRIBUTE_HEADER_BYTES, (from) => bytes.readUInt16LE(from));
    const type = bytes.readUInt16LE(at + 2) & ATTRIBUTE_TYPE;
    attributes.set(type, bytes.subarray(at + ATTRIBUTE_HEADER_BYTES, at + length));
    at += aligned(length);
  }
  return attributes;
}

/**
 * Parses a message of type ERROR, which may also report success, or of type DONE, which ends a list.
 *
 * @throws RangeError if it is too short.
 */
export function parseAcknowledgement({ type, flags, body }: NetlinkMessage): Acknowledgement {
  const errno = Math.max(0, -body.readInt32LE(0));
  if (type === TYPE.DONE || (flags & ANSWER.ACK_ATTRIBUTES) === 0) {
    return { errno, text: undefined };
  }
  // The whole request or only its header follows the error number.
  const request = (flags & ANSWER.CAPPED) === 0 ? aligned(body.readUInt32LE(4)) : HEADER_BYTES;
  const text = parseAttributes(body.subarray(4 + request)).get(ACK_MESSAGE);
  return { errno, text: text === undefined ? undefined : parseText(text) };
}

/** Parses text that ends with a zero byte. */
export function parseText(bytes: Buffer): string {
  const end = bytes.indexOf(0);
  return bytes.toString('utf8', 0, end < 0 ? bytes.length : end);
}

function lengthAt(
  bytes: Buffer,
  at: number,
  minimum: number,
  read: (at: number) => number,
): number {
  const remaining = bytes.length - at;
  const length = remaining < minimum ? remaining : read(at);
  if (remaining >= minimum && length >= minimum && length <= remaining) return length;
  throw new RangeError(`netlink: ${length} bytes at ${at} of ${bytes.length} are no message`);
}

function aligned(length: number): number {
  return Math.ceil(length / ALIGNMENT) * ALIGNMENT;
}
