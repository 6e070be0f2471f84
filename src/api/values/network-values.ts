/**
 * Schemas of addresses, ports and DNS names.
 */
import * as z from 'zod';
import { ipBytes, ipVersion } from '../../wire/ip-address.ts';
import { LABEL } from './name-patterns.ts';
import { pattern, withRules, type Rule } from './rule.ts';

/** The maximum length of a DNS name. */
export const MAX_NAME_LENGTH = 253;
/** The maximum length of a DNS label. */
export const MAX_LABEL_LENGTH = 63;

/** The schema of a TCP port. */
export const port = z.int().min(1).max(65_535);

/**
 * RFC 6066 does not allow IP addresses in SNI. A name whose last label consists of digits would be read as an address.
 */
const endsLikeAddress = pattern('(^|\\.)[0-9]+$');

function nameRule(source: string, sentence: string): Rule<string> {
  const name = pattern(source);
  return {
    cel: `${name.cel('self')} && !${endsLikeAddress.cel('self')}`,
    holds: (value) => name.matches(value) && !endsLikeAddress.matches(value),
    sentence,
  };
}

/** The schema of a host that clients can send in SNI. */
export const host = withRules(
  z.string().max(MAX_NAME_LENGTH),
  nameRule(
    `^(${LABEL}\\.)+${LABEL}$`,
    'invalid host "{self}": must be a lowercase DNS name with a dot, and not an IP address, such as tenant-01.k8s.example.com',
  ),
);

/** The schema of a host pattern: a host, or all names below a domain, such as `*.example.com`. */
export const hostPattern = withRules(
  z.string().max(MAX_NAME_LENGTH),
  nameRule(
    `^([*]\\.(${LABEL}\\.)*|(${LABEL}\\.)+)${LABEL}$`,
    'invalid host pattern "{self}": must be a lowercase DNS name with a dot, optionally with a leading wildcard label, such as *.example.com',
  ),
);

/** The schema of a domain, below which Snicket generates hosts. */
export const domain = withRules(
  z.string().max(MAX_NAME_LENGTH),
  nameRule(
    `^(${LABEL}\\.)*${LABEL}$`,
    'invalid domain "{self}": must be a lowercase DNS name, such as example.com',
  ),
);

/** Reports whether a machine can dial an address: not if it is link-local, multicast, broadcast or unspecified. */
function isDialable(address: string): boolean {
  return isUnicast(address) || isLoopback(address);
}

/** Reports the same as IsGlobalUnicast of Go's netip, which includes private addresses. */
function isUnicast(address: string): boolean {
  const bytes = ipBytes(address);
  if (bytes === undefined || isMapped(bytes) || isLoopback(address)) return false;
  const [first = 0, second = 0] = bytes;
  if (bytes.every((byte) => byte === 0)) return false;
  if (bytes.length === 16) return first !== 0xff && !(first === 0xfe && (second & 0xc0) === 0x80);
  const isMulticast = first >= 224 && first < 240;
  const isBroadcast = bytes.every((byte) => byte === 255);
  return !isMulticast && !isBroadcast && !(first === 169 && second === 254);
}

function isLoopback(address: string): boolean {
  const bytes = ipBytes(address);
  if (bytes === undefined) return false;
  if (bytes.length === 4) return bytes[0] === 127;
  return bytes.every((byte, index) => byte === (index === 15 ? 1 : 0));
}

/** Reports whether an address is IPv4-mapped, such as `::ffff:10.0.0.1`. Kubernetes rejects these. */
function isMapped(bytes: Uint8Array): boolean {
  return (
    bytes.length === 16 && bytes.every((byte, at) => at >= 12 || byte === (at >= 10 ? 0xff : 0))
  );
}

const CEL_IS_DIALABLE = (text: string) =>
  `isIP(${text}) && (ip(${text}).isGlobalUnicast() || ip(${text}).isLoopback())`;

/** The schema of an address that can be dialed. */
export const address = withRules(z.string().max(45), {
  cel: CEL_IS_DIALABLE('self'),
  holds: isDialable,
  sentence:
    'invalid address "{self}": must be an IP address that is not link-local, multicast or unspecified, such as 203.0.113.10',
});

/** Reports whether a text is a CIDR such as `10.0.0.0/8`, without bits set after its prefix. */
function isNetwork(text: string): boolean {
  const [address = '', length = '', ...rest] = text.split('/');
  const bytes = ipBytes(address);
  if (bytes === undefined || isMapped(bytes) || rest.length > 0) return false;
  if (!/^(0|[1-9][0-9]{0,2})$/.test(length) || Number(length) > 8 * bytes.length) return false;
  return bytes.every((byte, index) => {
    const bits = Math.max(0, Math.min(8, Number(length) - 8 * index));
    return (byte & (0xff >> bits)) === 0;
  });
}

/** The schema of a network of client addresses. */
export const network = withRules(z.string().max(49), {
  cel: 'isCIDR(self) && cidr(self) == cidr(self).masked()',
  holds: isNetwork,
  sentence:
    'invalid network "{self}": must be a CIDR without host bits, such as 10.0.0.0/8, 203.0.113.7/32 or fd00::/8',
});

/** The schema of an address that every node can carry and that an EndpointSlice accepts. */
export const virtualAddress = withRules(z.string().max(45), {
  cel: 'isIP(self) && ip(self).isGlobalUnicast()',
  holds: isUnicast,
  sentence:
    'invalid virtual address "{self}": must be an IP address that is not loopback, link-local, multicast or unspecified, such as 100.64.64.1',
});

/** A rule for lists of at most two addresses: at most one address of each family. */
export const oneOfEachFamily: Rule<readonly string[]> = {
  cel: 'size(self) < 2 || !isIP(self[0]) || !isIP(self[1]) || ip(self[0]).family() != ip(self[1]).family()',
  holds: ([first, second]) =>
    first === undefined ||
    second === undefined ||
    ipVersion(first) === 0 ||
    ipVersion(first) !== ipVersion(second),
  sentence: 'must have at most one IPv4 and one IPv6 address',
};

const endpointPattern = pattern('^([0-9.]+|\\[[0-9a-fA-F:.]*:[0-9a-fA-F:.]*\\]):[1-9][0-9]{0,4}$');
const CEL_ENDPOINT_ADDRESS =
  "self.substring(0, self.lastIndexOf(':')).replace('[', '').replace(']', '')";

/** The schema of an address with a port. */
export const endpoint = withRules(z.string().max(53), {
  cel: [
    endpointPattern.cel('self'),
    CEL_IS_DIALABLE(CEL_ENDPOINT_ADDRESS),
    "int(self.substring(self.lastIndexOf(':') + 1)) <= 65535",
  ].join(' && '),
  holds: isEndpoint,
  sentence:
    'invalid endpoint "{self}": must be an IP address with a port, such as 10.0.0.5:6443 or [fd00::5]:6443',
});

function isEndpoint(text: string): boolean {
  if (!endpointPattern.matches(text)) return false;
  const colon = text.lastIndexOf(':');
  return (
    isDialable(text.slice(0, colon).replaceAll(/[[\]]/g, '')) &&
    Number(text.slice(colon + 1)) <= 65_535
  );
}
