/**
 * The fields of a TLS ClientHello (RFC 8446, 4.1.2) that these tests check. The ClientHello must be complete and in one
 * record.
 */
export interface Hello {
  /** Host names of the server_name extension; empty if the client sent none. */
  readonly names: readonly string[];
  /** The ClientHello in hex with random bytes zeroed, so that the rest can distinguish clients. */
  readonly fingerprint: string;
}

const SERVER_NAME = 0;
const KEY_SHARE = 51;

/** Parses a ClientHello. */
export function readHello(record: Buffer): Hello {
  if (record[0] !== 0x16 || record[5] !== 1)
    throw new Error(`not a ClientHello: ${record.subarray(0, 6).toString('hex')}`);
  const masked = Buffer.from(record);
  let at = 5 + 4 + 2;
  masked.fill(0, at, at + 32); // random
  at += 32;
  const session = masked.readUInt8(at);
  masked.fill(0, at + 1, at + 1 + session);
  at += 1 + session;
  at += 2 + record.readUInt16BE(at); // cipher suites
  at += 1 + record.readUInt8(at); // compression methods
  const end = at + 2 + record.readUInt16BE(at);
  at += 2;
  const names: string[] = [];
  while (at < end) {
    const type = record.readUInt16BE(at);
    const length = record.readUInt16BE(at + 2);
    const body = at + 4;
    if (type === SERVER_NAME)
      names.push(record.toString('latin1', body + 5, body + 5 + record.readUInt16BE(body + 3)));
    if (type === KEY_SHARE) masked.fill(0, body, body + length);
    at = body + length;
  }
  return { names, fingerprint: masked.toString('hex') };
}
