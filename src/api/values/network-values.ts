/**
 * Addresses, ports and names as the fields of our objects have them.
 */
import * as z from 'zod';
import { ipBytes, ipVersion } from '../../wire/ip-address.ts';
import { LABEL } from './name-patterns.ts';
import { pattern, withRules, type Rule } from './rule.ts';

/** As DNS has it, and as the limit of every field with a name in it. */
export const MAX_NAME_LENGTH = 253;
/** Of one part of a name between two dots. */
export const MAX_LABEL_LENGTH = 63;

/** A port of TCP. */
export const port = z.int().min(1).max(65_535);

/** RFC 6066 has no addresses in SNI. Digits alone at the end are what makes an address of a name. */
const endsLikeAddress = pattern('(^|\\.)[0-9]+$');

function nameRule(source: string, sentence: string): Rule<string> {
  const name = pattern(source);
  return {
    cel: `${name.cel('self')} && !${endsLikeAddress.cel('self')}`,
    holds: (value) => name.matches(value) && !endsLikeAddress.matches(value),
    sentence,
  };
}

/** A host that clients can ask for by SNI. */
export const host = withRules(
  z.string().max(MAX_NAME_LENGTH),
  nameRule(
    `^(${LABEL}\\.)+${LABEL}$`,
    '"{self}" is no host; write a DNS name in lower case with a dot and no address, such as tenant-01.k8s.example.com',
  ),
);

/** A host, or all names below a domain: `*.example.com`. */
export const hostPattern = withRules(
  z.string().max(MAX_NAME_LENGTH),
  nameRule(
    `^([*]\\.(${LABEL}\\.)*|(${LABEL}\\.)+)${LABEL}$`,
    'invalid host pattern "{self}": must be a lowercase DNS name with a dot, optionally with a leading wildcard label, such as *.example.com',
  ),
);

/** A domain below which hosts are made. */
export const domain = withRules(
  z.string().max(MAX_NAME_LENGTH),
  nameRule(
    `^(${LABEL}\\.)*${LABEL}$`,
    '"{self}" is no domain; write a DNS name in lower case, such as example.com',
  ),
);

/** What any machine can dial: nothing link-local, no multicast, no broadcast, not 0.0.0.0. */
function isDialled(address: string): boolean {
  return isUnicast(address) || isLoopback(address);
}

/** As Go's netip says IsGlobalUnicast, which takes private addresses for global too. */
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

/** `::ffff:10.0.0.1`, which Kubernetes takes for no address. */
function isMapped(bytes: Uint8Array): boolean {
  return (
    bytes.length === 16 && bytes.every((byte, at) => at >= 12 || byte === (at >= 10 ? 0xff : 0))
  );
}

const CEL_IS_DIALLED = (text: string) =>
  `isIP(${text}) && (ip(${text}).isGlobalUnicast() || ip(${text}).isLoopback())`;

/** An address that can be dialled. */
export const address = withRules(z.string().max(45), {
  cel: CEL_IS_DIALLED('self'),
  holds: isDialled,
  sentence: '"{self}" is no address to dial; write an IP such as 203.0.113.10 or 2001:db8::10',
});

/** A network, `10.0.0.0/8`, with no bits set behind its prefix. */
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

/** A network of client addresses. */
export const network = withRules(z.string().max(49), {
  cel: 'isCIDR(self) && cidr(self) == cidr(self).masked()',
  holds: isNetwork,
  sentence: '"{self}" is not a network; write one such as 10.0.0.0/8, 203.0.113.7/32 or fd00::/8',
});

/** An address that every node can carry, and that an EndpointSlice may hold. */
export const virtualAddress = withRules(z.string().max(45), {
  cel: 'isIP(self) && ip(self).isGlobalUnicast()',
  holds: isUnicast,
  sentence:
    '"{self}" is no virtual address; write an IP that is not loopback, link-local, multicast or unspecified, such as 100.64.64.1',
});

/** At most one address of each family; of a list with two at most. */
export const oneOfEachFamily: Rule<readonly string[]> = {
  cel: 'size(self) < 2 || !isIP(self[0]) || !isIP(self[1]) || ip(self[0]).family() != ip(self[1]).family()',
  holds: ([first, second]) =>
    first === undefined ||
    second === undefined ||
    ipVersion(first) === 0 ||
    ipVersion(first) !== ipVersion(second),
  sentence: 'two addresses of one family; write one IPv4 and one IPv6 address at most',
};

const endpointPattern = pattern('^([0-9.]+|\\[[0-9a-fA-F:.]*:[0-9a-fA-F:.]*\\]):[1-9][0-9]{0,4}$');
const CEL_ENDPOINT_ADDRESS =
  "self.substring(0, self.lastIndexOf(':')).replace('[', '').replace(']', '')";

/** An address and a port. */
export const endpoint = withRules(z.string().max(53), {
  cel: [
    endpointPattern.cel('self'),
    CEL_IS_DIALLED(CEL_ENDPOINT_ADDRESS),
    "int(self.substring(self.lastIndexOf(':') + 1)) <= 65535",
  ].join(' && '),
  holds: isEndpoint,
  sentence: '"{self}" is no endpoint; write an IP and a port, 10.0.0.5:6443 or [fd00::5]:6443',
});

function isEndpoint(text: string): boolean {
  if (!endpointPattern.matches(text)) return false;
  const colon = text.lastIndexOf(':');
  return (
    isDialled(text.slice(0, colon).replaceAll(/[[\]]/g, '')) &&
    Number(text.slice(colon + 1)) <= 65_535
  );
}
