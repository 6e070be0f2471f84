/**
 * The ways to split a ClientHello for the wire. Pure.
 */
import { addressPair } from '../../wire/address-pair.ts';
import { ipVersion } from '../../wire/ip-address.ts';
import { proxyHeaderBytes, writeProxyHeader } from '../../wire/proxy-header.ts';

/** Splits a ClientHello, a whole TLS record, into pieces. Each becomes a TCP segment. */
export type HelloShape = (hello: Buffer) => readonly Buffer[];

const RECORD_HEADER_BYTES = 5;
const HANDSHAKE_RECORD = 22;

/** The content size of each record of {@link inSmallRecords}. */
const SMALL_RECORD_BYTES = 64;

/** Client addresses for {@link behindProxyHeader}, from the ranges for documentation. */
const FORGED_CLIENTS = { 4: '192.0.2.1', 6: '2001:db8::1' } as const;
const FORGED_PORT = 4711;

/** Sends the ClientHello in one piece. */
export const inOnePiece: HelloShape = (hello) => [hello];

/**
 * Splits into six segments. The first has a single byte, the second ends in the middle of the record header, the last
 * has a single byte. An edge that reads only once sees next to nothing.
 */
export const inSegments: HelloShape = (hello) => {
  const third = Math.floor(hello.length / 3);
  const cuts = [0, 1, 4, third, 2 * third, hello.length - 1, hello.length];
  return cuts.slice(1).map((end, at) => hello.subarray(cuts[at], end));
};

/**
 * Splits into records of 64 bytes, which are sent together. The transcript that TLS signs does not cover record
 * boundaries.
 */
export const inSmallRecords: HelloShape = (hello) => {
  const message = hello.subarray(RECORD_HEADER_BYTES);
  const records: Buffer[] = [];
  for (let at = 0; at < message.length; at += SMALL_RECORD_BYTES) {
    const content = message.subarray(at, at + SMALL_RECORD_BYTES);
    const header = Buffer.from([HANDSHAKE_RECORD, 3, 1, 0, content.length]);
    records.push(Buffer.concat([header, content]));
  }
  return [Buffer.concat(records)];
};

/** Prepends a PROXY protocol version 2 header, as from a load balancer at another address. */
export function behindProxyHeader(edgeAddress: string, edgePort: number): HelloShape {
  const client = FORGED_CLIENTS[ipVersion(edgeAddress) === 6 ? 6 : 4];
  const pair = addressPair(client, FORGED_PORT, edgeAddress, edgePort);
  const header = Buffer.alloc(proxyHeaderBytes(pair.family, 0));
  writeProxyHeader(header, 0, pair);
  return (hello) => [Buffer.concat([header, hello])];
}
