import { ProtocolError } from '../connection-error.ts';
import { contentOf, FLAG, FRAME, type Frame } from './frames.ts';

const MAX_HEADER_BYTES = 64 * 1024;
const MAX_HEADER_FRAMES = 64;

/** A complete header block. */
export interface HeaderBlock {
  readonly streamId: number;
  /** Whether it ends the stream. */
  readonly isEnd: boolean;
  readonly bytes: Buffer;
}

/** Assembles a header block from a HEADERS frame and its CONTINUATION frames. */
export class HeaderAssembler {
  #block: { streamId: number; isEnd: boolean; parts: Buffer[]; length: number } | undefined;

  /** Returns the block if this frame completes it. Must be called for every frame. @throws ProtocolError */
  push(frame: Frame): HeaderBlock | undefined {
    const { type, flags, streamId } = frame;
    if (this.#block !== undefined && type !== FRAME.continuation) {
      throw new ProtocolError('a header block was interrupted');
    }
    if (type === FRAME.headers) {
      const isEnd = (flags & FLAG.endStream) !== 0;
      this.#block = { streamId, isEnd, parts: [], length: 0 };
    } else if (type !== FRAME.continuation) return undefined;
    const block = this.#block;
    if (block?.streamId !== streamId)
      throw new ProtocolError('a CONTINUATION follows no header block');
    const content = type === FRAME.headers ? contentOf(frame) : frame.payload;
    // A copy: the socket reuses the buffer.
    block.parts.push(Buffer.from(content));
    block.length += content.length;
    if (block.length > MAX_HEADER_BYTES || block.parts.length > MAX_HEADER_FRAMES) {
      throw new ProtocolError('headers are too long');
    }
    if ((flags & FLAG.endHeaders) === 0) return undefined;
    this.#block = undefined;
    return { streamId, isEnd: block.isEnd, bytes: Buffer.concat(block.parts) };
  }
}
