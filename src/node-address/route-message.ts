/** The messages of rtnetlink that Snicket uses: list addresses, add one, remove one, get a link, and get a route. */
import { AF_INET, AF_INET6 } from '../system/linux.ts';
import { formatAddress } from '../wire/address-pair.ts';
import { ipBytes } from '../wire/ip-address.ts';
import {
  buildAttribute,
  buildMessage,
  parseAttributes,
  parseText,
  type NetlinkMessage,
} from './netlink-message.ts';
import {
  ADDRESS,
  ADDRESS_FLAG,
  LINK_NAME,
  LINK_UP,
  REQUEST,
  ROUTE_DESTINATION,
  ROUTE_LOCAL,
  SCOPE_GLOBAL,
  SCOPE_HOST,
  TYPE,
} from './rtnetlink.ts';

/** An address of an interface. */
export interface NodeAddress {
  /** IPv6 in the form of RFC 5952. */
  readonly address: string;
  readonly prefixLength: number;
  readonly scope: number;
  readonly flags: number;
  /** The index of the interface. */
  readonly link: number;
}

/** A network interface. */
export interface Link {
  readonly index: number;
  readonly name: string;
  readonly isUp: boolean;
}

const IFADDRMSG_BYTES = 8;
const IFINFOMSG_BYTES = 16;
const RTMSG_BYTES = 12;
const RTMSG_TYPE_AT = 7;
const FOREVER = 0xffff_ffff;

/** Returns a request for all addresses of all interfaces. */
export function addressesRequest(sequence: number): Buffer {
  const flags = REQUEST.REQUEST | REQUEST.DUMP;
  return buildMessage({ type: TYPE.GETADDR, flags, sequence, body: Buffer.alloc(IFADDRMSG_BYTES) });
}

/**
 * Returns a request to add the address to an interface. Other traffic must not use the address as its source. For IPv4,
 * scope host ensures that. The scope of IPv6 is fixed, so a preferred lifetime of 0 ensures it (RFC 6724 rule 3).
 */
export function addRequest(sequence: number, address: string, link: number): Buffer {
  const { bytes, prefixLength, isIPv4 } = packAddress(address);
  const addressFlags = Buffer.alloc(4);
  addressFlags.writeUInt32LE(ADDRESS_FLAG.NODAD | ADDRESS_FLAG.NOPREFIXROUTE);
  const lifetimes = Buffer.alloc(16); // preferred, valid, and two dates that the kernel sets
  lifetimes.writeUInt32LE(FOREVER, 4);
  const body = Buffer.concat([
    addressHeader(isIPv4, prefixLength, isIPv4 ? SCOPE_HOST : SCOPE_GLOBAL, link),
    buildAttribute(ADDRESS.LOCAL, bytes),
    buildAttribute(ADDRESS.ADDRESS, bytes),
    ...(isIPv4
      ? []
      : [
          buildAttribute(ADDRESS.FLAGS, addressFlags),
          buildAttribute(ADDRESS.CACHEINFO, lifetimes),
        ]),
  ]);
  const flags = REQUEST.REQUEST | REQUEST.ACK | REQUEST.CREATE | REQUEST.EXCL;
  return buildMessage({ type: TYPE.NEWADDR, flags, sequence, body });
}

/** Returns a request to remove the address, with a prefix of its full length, from an interface. */
export function removeRequest(sequence: number, address: string, link: number): Buffer {
  const { bytes, prefixLength, isIPv4 } = packAddress(address);
  const body = Buffer.concat([
    addressHeader(isIPv4, prefixLength, SCOPE_GLOBAL, link),
    buildAttribute(ADDRESS.LOCAL, bytes),
    buildAttribute(ADDRESS.ADDRESS, bytes),
  ]);
  const flags = REQUEST.REQUEST | REQUEST.ACK;
  return buildMessage({ type: TYPE.DELADDR, flags, sequence, body });
}

/** Returns a request for an interface, by name or by index. */
export function linkRequest(sequence: number, link: string | number): Buffer {
  const header = Buffer.alloc(IFINFOMSG_BYTES);
  if (typeof link === 'number') header.writeInt32LE(link, 4);
  const name =
    typeof link === 'string' ? [buildAttribute(LINK_NAME, Buffer.from(`${link}\0`))] : [];
  const flags = REQUEST.REQUEST | REQUEST.ACK;
  const body = Buffer.concat([header, ...name]);
  return buildMessage({ type: TYPE.GETLINK, flags, sequence, body });
}

/** Returns a request for the route to an address. */
export function routeRequest(sequence: number, address: string): Buffer {
  const { bytes, prefixLength, isIPv4 } = packAddress(address);
  const header = Buffer.alloc(RTMSG_BYTES);
  header.set([isIPv4 ? AF_INET : AF_INET6, prefixLength]);
  const flags = REQUEST.REQUEST | REQUEST.ACK;
  const body = Buffer.concat([header, buildAttribute(ROUTE_DESTINATION, bytes)]);
  return buildMessage({ type: TYPE.GETROUTE, flags, sequence, body });
}

/**
 * Parses the address of a message. Undefined if it is neither IPv4 nor IPv6. @throws RangeError if the message is
 * malformed.
 */
export function parseNodeAddress({ body }: NetlinkMessage): NodeAddress | undefined {
  const attributes = parseAttributes(body.subarray(IFADDRMSG_BYTES));
  const family = body.readUInt8(0);
  if (family !== AF_INET && family !== AF_INET6) return undefined;
  // For a link with a peer, ADDRESS is that of the peer.
  const bytes = attributes.get(ADDRESS.LOCAL) ?? attributes.get(ADDRESS.ADDRESS);
  if (bytes?.length !== (family === AF_INET ? 4 : 16)) return undefined;
  return {
    address: formatAddress(bytes, 0, family === AF_INET ? 'ipv4' : 'ipv6'),
    prefixLength: body.readUInt8(1),
    // The header has only eight bits of the flags.
    flags: attributes.get(ADDRESS.FLAGS)?.readUInt32LE(0) ?? body.readUInt8(2),
    scope: body.readUInt8(3),
    link: body.readUInt32LE(4),
  };
}

/** Parses the interface of a message. @throws RangeError if the message is malformed. */
export function parseLink({ body }: NetlinkMessage): Link {
  const name = parseAttributes(body.subarray(IFINFOMSG_BYTES)).get(LINK_NAME);
  const index = body.readInt32LE(4);
  return {
    index,
    name: name === undefined ? `interface ${index}` : parseText(name),
    isUp: (body.readUInt32LE(8) & LINK_UP) !== 0,
  };
}

/** Reports whether the route of a message ends on this machine. @throws RangeError if the message is malformed. */
export function isLocalRoute({ body }: NetlinkMessage): boolean {
  return body.readUInt8(RTMSG_TYPE_AT) === ROUTE_LOCAL;
}

function addressHeader(isIPv4: boolean, prefixLength: number, scope: number, link: number): Buffer {
  const header = Buffer.from([isIPv4 ? AF_INET : AF_INET6, prefixLength, 0, scope, 0, 0, 0, 0]);
  header.writeUInt32LE(link, 4);
  return header;
}

function packAddress(address: string) {
  const bytes = ipBytes(address);
  if (bytes === undefined) throw new TypeError(`'${address}' is not an IP address`);
  return { bytes, prefixLength: bytes.length * 8, isIPv4: bytes.length === 4 };
}
