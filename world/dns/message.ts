/** Parses DNS queries with one question, and writes answers with addresses (RFC 1035). */

/** A parsed query. */
export interface Query {
  readonly id: number;
  /** Lower case, without the trailing dot. */
  readonly name: string;
  /** 1 is A, 28 is AAAA. */
  readonly type: number;
  /** Bytes of the question, which the answer repeats. */
  readonly question: Buffer;
  readonly recursionDesired: boolean;
}

/** Record types that the resolver answers. */
export const TYPE_A = 1;
export const TYPE_AAAA = 28;

/** Response codes. */
export const CODE = { ok: 0, servfail: 2, nxdomain: 3 } as const;

const HEADER = 12;
const TTL_SECONDS = 1;

/** Parses a query; undefined if it is not a query with exactly one question. */
export function parseQuery(message: Buffer): Query | undefined {
  if (message.length < HEADER + 5) return undefined;
  const flags = message.readUInt16BE(2);
  if ((flags & 0xf800) !== 0 || message.readUInt16BE(4) !== 1) return undefined;
  const labels: string[] = [];
  let at = HEADER;
  for (;;) {
    const length = message[at];
    if (length === undefined || length > 63) return undefined;
    at++;
    if (length === 0) break;
    if (at + length > message.length) return undefined;
    labels.push(message.toString('latin1', at, at + length));
    at += length;
  }
  if (at + 4 > message.length) return undefined;
  return {
    id: message.readUInt16BE(0),
    name: labels.join('.').toLowerCase(),
    type: message.readUInt16BE(at),
    question: message.subarray(HEADER, at + 4),
    recursionDesired: (flags & 0x0100) !== 0,
  };
}

/** Builds the answer to a query. Omits addresses of the other family. */
export function answer(query: Query, code: number, addresses: readonly string[]): Buffer {
  const length = query.type === TYPE_A ? 4 : query.type === TYPE_AAAA ? 16 : 0;
  const data = addresses.map(addressBytes).filter((bytes) => bytes.length === length);
  const header = Buffer.alloc(HEADER);
  header.writeUInt16BE(query.id, 0);
  // Response, authoritative, recursion available (resolvers in libraries expect it).
  header.writeUInt16BE(0x8480 | (query.recursionDesired ? 0x0100 : 0) | code, 2);
  header.writeUInt16BE(1, 4);
  header.writeUInt16BE(data.length, 6);
  const records = data.map((bytes) => {
    const record = Buffer.alloc(12 + bytes.length);
    record.writeUInt16BE(0xc000 | HEADER, 0); // the name: a pointer to the question
    record.writeUInt16BE(query.type, 2);
    record.writeUInt16BE(1, 4);
    record.writeUInt32BE(TTL_SECONDS, 6);
    record.writeUInt16BE(bytes.length, 10);
    bytes.copy(record, 12);
    return record;
  });
  return Buffer.concat([header, query.question, ...records]);
}

/** Returns the bytes of an IPv4 or IPv6 address. */
export function addressBytes(address: string): Buffer {
  if (!address.includes(':')) return Buffer.from(address.split('.').map(Number));
  const [head = '', tail] = address.split('::');
  const groups = (text: string) =>
    text
      .split(':')
      .filter(Boolean)
      .map((group) => parseInt(group, 16));
  const before = groups(head);
  const after = tail === undefined ? [] : groups(tail);
  const words = [...before, ...Array<number>(8 - before.length - after.length).fill(0), ...after];
  const bytes = Buffer.alloc(16);
  words.forEach((word, index) => bytes.writeUInt16BE(word, index * 2));
  return bytes;
}
