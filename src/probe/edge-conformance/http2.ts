/**
 * Minimal HTTP/2 framing (RFC 9113): client preface and PING, used to check that an idle connection still works. Pure.
 */

/** The fixed start of every client connection (RFC 9113, section 3.4). */
const CLIENT_MAGIC = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 'latin1');

// Frame types and the flag ACK (RFC 9113, section 6).
const SETTINGS = 4;
const PING = 6;
const ACK = 1;

const FRAME_HEADER_BYTES = 9;

/** The payload of a PING has exactly eight bytes (RFC 9113, section 6.7). */
const PING_OPAQUE_DATA = Buffer.from('snicket?', 'latin1');

/** The client preface: the magic and an empty SETTINGS frame, which keeps all defaults. */
export const CLIENT_PREFACE = Buffer.concat([CLIENT_MAGIC, frame(SETTINGS, 0)]);

/** Acknowledges the SETTINGS of the server. */
export const SETTINGS_ACK = frame(SETTINGS, ACK);

/** A PING, which the server must acknowledge. */
export const PING_REQUEST = frame(PING, 0, PING_OPAQUE_DATA);

/** Reports whether the received bytes contain the header of a SETTINGS frame that is not an ACK. */
export function hasSettings(received: Buffer): boolean {
  return hasFrame(received, SETTINGS, 0);
}

/** Reports whether the received bytes contain a PING ACK. Its payload is not compared, since only one PING is sent. */
export function hasPingAck(received: Buffer): boolean {
  return hasFrame(received, PING, ACK);
}

function hasFrame(received: Buffer, type: number, flags: number): boolean {
  let offset = 0;
  while (offset + FRAME_HEADER_BYTES <= received.length) {
    if (received[offset + 3] === type && received[offset + 4] === flags) return true;
    offset += FRAME_HEADER_BYTES + received.readUIntBE(offset, 3);
  }
  return false;
}

function frame(type: number, flags: number, payload: Buffer = Buffer.alloc(0)): Buffer {
  const header = Buffer.alloc(FRAME_HEADER_BYTES);
  header.writeUIntBE(payload.length, 0, 3);
  header[3] = type;
  header[4] = flags;
  return Buffer.concat([header, payload]);
}
