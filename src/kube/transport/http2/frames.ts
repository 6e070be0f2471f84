/**
 * HTTP/2 frames (RFC 9113, sections 4 and 6), as far as a client needs them.
 */

import { ProtocolError } from '../connection-error.ts';

/** Frame types. */
export const FRAME = {
  data: 0x0,
  headers: 0x1,
  resetStream: 0x3,
  settings: 0x4,
  pushPromise: 0x5,
  ping: 0x6,
  goAway: 0x7,
  windowUpdate: 0x8,
  continuation: 0x9,
} as const;

/** Frame flags. ACK and END_STREAM are the same bit on different frames. */
export const FLAG = { endStream: 0x1, ack: 0x1, endHeaders: 0x4, padded: 0x8, priority: 0x20 };

/** Identifiers of settings. */
export const SETTING = {
  headerTableSize: 0x1,
  enablePush: 0x2,
  maxConcurrentStreams: 0x3,
  initialWindowSize: 0x4,
} as const;

/** The frame size that every peer must accept, and the maximum that this client accepts. */
export const MAX_FRAME_BYTES = 16_384;
/** The initial window of a stream and of a connection. */
export const DEFAULT_WINDOW = 65_535;
/** The maximum size of a window. */
export const MAX_WINDOW = 2 ** 31 - 1;
const HEAD_BYTES = 9;

/** The connection preface of a client. */
export const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 'latin1');

/** A received frame. */
export interface Frame {
  readonly type: number;
  readonly flags: number;
  readonly streamId: number;
  readonly payload: Buffer;
}

/** Encodes a frame. */
export function frame(
  type: number,
  flags: number,
  streamId: number,
  payload: Uint8Array = Buffer.alloc(0),
): Buffer {
  const bytes = Buffer.allocUnsafe(HEAD_BYTES + payload.length);
  bytes.writeUIntBE(payload.length, 0, 3);
  bytes[3] = type;
  bytes[4] = flags;
  bytes.writeUInt32BE(streamId, 5);
  bytes.set(payload, HEAD_BYTES);
  return bytes;
}

/** Encodes a SETTINGS frame. */
export function settingsFrame(settings: readonly (readonly [number, number])[]): Buffer {
  const payload = Buffer.alloc(settings.length * 6);
  for (const [index, [id, value]] of settings.entries()) {
    payload.writeUInt16BE(id, index * 6);
    payload.writeUInt32BE(value, index * 6 + 2);
  }
  return frame(FRAME.settings, 0, 0, payload);
}

/** Encodes a frame whose payload is one number: RST_STREAM or WINDOW_UPDATE. */
export function numberFrame(type: number, streamId: number, value: number): Buffer {
  const payload = Buffer.alloc(4);
  payload.writeUInt32BE(value);
  return frame(type, 0, streamId, payload);
}

/** Splits received bytes into frames. */
export class FrameReader {
  #rest: Buffer = Buffer.alloc(0);

  /** Yields the complete frames. Their payloads are views of the bytes. @throws ProtocolError */
  *push(bytes: Uint8Array): Generator<Frame> {
    let remaining =
      this.#rest.length === 0
        ? Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
        : Buffer.concat([this.#rest, bytes]);
    while (remaining.length >= HEAD_BYTES) {
      const length = remaining.readUIntBE(0, 3);
      if (length > MAX_FRAME_BYTES) throw new ProtocolError(`a frame has ${length} bytes`);
      const end = HEAD_BYTES + length;
      if (remaining.length < end) break;
      yield {
        type: remaining[3] ?? 0,
        flags: remaining[4] ?? 0,
        streamId: remaining.readUInt32BE(5) & 0x7f_ff_ff_ff,
        payload: remaining.subarray(HEAD_BYTES, end),
      };
      remaining = remaining.subarray(end);
    }
    // A copy, because the socket reuses the buffer. In most calls nothing remains.
    this.#rest = remaining.length === 0 ? EMPTY : Buffer.from(remaining);
  }
}

const EMPTY = Buffer.alloc(0);

/** Returns the content of a frame without padding and priority. @throws ProtocolError */
export function contentOf({ type, flags, payload }: Frame): Buffer {
  let content = payload;
  if ((flags & FLAG.padded) !== 0) {
    const padding = payload[0] ?? 0;
    if (padding >= payload.length) throw new ProtocolError('a frame has more padding than bytes');
    content = payload.subarray(1, payload.length - padding);
  }
  if (type === FRAME.headers && (flags & FLAG.priority) !== 0) {
    if (content.length < 5) throw new ProtocolError('a frame is too short for a priority');
    content = content.subarray(5);
  }
  return content;
}

/** Returns the number in a frame with a four-byte payload. @throws ProtocolError */
export function numberIn({ payload }: Frame): number {
  if (payload.length !== 4) throw new ProtocolError(`a frame has ${payload.length} bytes, not 4`);
  return payload.readUInt32BE(0);
}
