/** Frames of HTTP/2 (RFC 9113, section 4 and 6), as far as a client needs them. */

import { ProtocolError } from '../connection-error.ts';

/** Types of frames. */
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

/** Flags of frames. ACK and END_STREAM have the same bit, on different frames. */
export const FLAG = { endStream: 0x1, ack: 0x1, endHeaders: 0x4, padded: 0x8, priority: 0x20 };

/** Settings by their identifier. */
export const SETTING = {
  headerTableSize: 0x1,
  enablePush: 0x2,
  maxConcurrentStreams: 0x3,
  initialWindowSize: 0x4,
} as const;

/** What both sides must accept, and what this client accepts at most. */
export const MAX_FRAME_BYTES = 16_384;
/** The window of a stream and of a connection before either side says anything else. */
export const DEFAULT_WINDOW = 65_535;
/** A window never grows past this. */
export const MAX_WINDOW = 2 ** 31 - 1;
const HEAD_BYTES = 9;

/** What a client sends first. */
export const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 'latin1');

/** A frame that was received. */
export interface Frame {
  readonly type: number;
  readonly flags: number;
  readonly streamId: number;
  readonly payload: Buffer;
}

/** The bytes of a frame. */
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

/** A frame of settings. */
export function settingsFrame(settings: readonly (readonly [number, number])[]): Buffer {
  const payload = Buffer.alloc(settings.length * 6);
  for (const [index, [id, value]] of settings.entries()) {
    payload.writeUInt16BE(id, index * 6);
    payload.writeUInt32BE(value, index * 6 + 2);
  }
  return frame(FRAME.settings, 0, 0, payload);
}

/** A frame whose payload is one number: RST_STREAM, WINDOW_UPDATE. */
export function numberFrame(type: number, streamId: number, value: number): Buffer {
  const payload = Buffer.alloc(4);
  payload.writeUInt32BE(value);
  return frame(type, 0, streamId, payload);
}

/** Cuts bytes into frames, however they arrive. */
export class FrameReader {
  #rest: Buffer = Buffer.alloc(0);

  /** The frames that are complete now. Their payloads are views. @throws ProtocolError */
  *push(bytes: Uint8Array): Generator<Frame> {
    let left =
      this.#rest.length === 0
        ? Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
        : Buffer.concat([this.#rest, bytes]);
    while (left.length >= HEAD_BYTES) {
      const length = left.readUIntBE(0, 3);
      if (length > MAX_FRAME_BYTES) throw new ProtocolError(`a frame has ${length} bytes`);
      const end = HEAD_BYTES + length;
      if (left.length < end) break;
      yield {
        type: left[3] ?? 0,
        flags: left[4] ?? 0,
        streamId: left.readUInt32BE(5) & 0x7f_ff_ff_ff,
        payload: left.subarray(HEAD_BYTES, end),
      };
      left = left.subarray(end);
    }
    // A copy: the bytes belong to the socket, and most often nothing is left.
    this.#rest = left.length === 0 ? EMPTY : Buffer.from(left);
  }
}

const EMPTY = Buffer.alloc(0);

/** What a frame carries besides its padding and the priority of its stream. @throws ProtocolError */
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

/** The number in a frame of four bytes. @throws ProtocolError */
export function numberIn({ payload }: Frame): number {
  if (payload.length !== 4) throw new ProtocolError(`a frame has ${payload.length} bytes, not 4`);
  return payload.readUInt32BE(0);
}
