/**
 * The parts of HTTP/2 (RFC 9113) that a ping needs. Pure.
 */

const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 'latin1');
const FRAME_HEADER_BYTES = 9;
const SETTINGS = 4;
const PING = 6;
const ACK = 1;
const PING_CONTENT = Buffer.from('snicket?', 'latin1');

/** The preface of a client, and settings that change nothing. */
export const OPENING = Buffer.concat([PREFACE, frame(SETTINGS, 0)]);

/** Acknowledges the settings of the server. */
export const SETTINGS_ACK = frame(SETTINGS, ACK);

/** Requests an immediate response. */
export const PING_REQUEST = frame(PING, 0, PING_CONTENT);

/** Reports whether the server has sent its settings, the first frame of every HTTP/2 server. */
export function hasSettings(received: Buffer): true | undefined {
  return hasFrame(received, SETTINGS, 0);
}

/** Reports whether a ping was answered. */
export function hasPingResponse(received: Buffer): true | undefined {
  return hasFrame(received, PING, ACK);
}

function hasFrame(received: Buffer, type: number, flags: number): true | undefined {
  for (let at = 0; at + FRAME_HEADER_BYTES <= received.length;) {
    if (received[at + 3] === type && received[at + 4] === flags) return true;
    at += FRAME_HEADER_BYTES + received.readUIntBE(at, 3);
  }
  return undefined;
}

function frame(type: number, flags: number, content: Buffer = Buffer.alloc(0)): Buffer {
  const header = Buffer.alloc(FRAME_HEADER_BYTES);
  header.writeUIntBE(content.length, 0, 3);
  header[3] = type;
  header[4] = flags;
  return Buffer.concat([header, content]);
}
