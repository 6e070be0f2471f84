/**
 * The rules for a server name: RFC 6066 section 3, and the names that a route can have.
 *
 * Invalid names are refused, not repaired. The upstream server reads the same bytes, so a name that it would refuse or
 * read differently must not be routed. Go's server, for example, refuses a trailing dot.
 */
import { uint8 } from '../bytes.ts';
import type { HelloRefusal } from '../outcome.ts';

/** The limit of OpenSSL. The limit of DNS is 253. */
export const MAX_NAME_BYTES = 255;
const MAX_LABEL_BYTES = 63;

const DIGIT = 1;
const HEX_LETTER = 2;
const OTHER_LETTER = 4;
/** Hyphen and underscore. RFC 952 does not allow underscores, but some names have them. */
const JOINER = 8;
const DOT = 16;
/** Colon and brackets, as in IPv6 literals. */
const COLON = 32;
const NUL = 64;
const NOT_ASCII = 128;
const OTHER = 256;

const DOT_CODE = 0x2e;
const ALLOWED_IN_NAME = DIGIT | HEX_LETTER | OTHER_LETTER | JOINER | DOT;

/** Class of each byte. {@link serverNameFault} computes the union of the classes in a name and decides by it. */
const CLASS_OF = Uint16Array.from({ length: 256 }, (_, byte) => {
  if (byte === 0) return NUL;
  if (byte > 0x7f) return NOT_ASCII;
  const character = String.fromCharCode(byte);
  if (/[0-9]/.test(character)) return DIGIT;
  if (/[a-f]/i.test(character)) return HEX_LETTER;
  if (/[g-z]/i.test(character)) return OTHER_LETTER;
  if (/[-_]/.test(character)) return JOINER;
  if (/[:[\]]/.test(character)) return COLON;
  return character === '.' ? DOT : OTHER;
});

/** Returns the reason to refuse the name in these bytes, or undefined if it can be routed. */
export function serverNameFault(
  bytes: Uint8Array,
  start: number,
  end: number,
): HelloRefusal | undefined {
  if (end === start) return 'server_name_empty';
  if (end - start > MAX_NAME_BYTES) return 'server_name_too_long';

  let classes = 0;
  let labelStart = start;
  let labelsFit = true;
  for (let at = start; at < end; at++) {
    const byte = uint8(bytes, at);
    classes |= CLASS_OF[byte] ?? OTHER;
    if (byte === DOT_CODE) {
      if (!labelFits(at - labelStart)) labelsFit = false;
      labelStart = at + 1;
    }
  }

  if (classes & NUL) return 'server_name_has_nul';
  if (classes & NOT_ASCII) return 'server_name_not_ascii';
  if (classes & COLON && hasOnly(classes, COLON | DIGIT | HEX_LETTER | DOT))
    return 'server_name_ip_literal';
  if (!hasOnly(classes, ALLOWED_IN_NAME)) return 'server_name_not_dns';
  if (labelStart === end) return 'server_name_trailing_dot';
  // A name of digits and dots is an address in a form that inet_aton accepts: 127.0.0.1, 127.1, 2130706433.
  if (hasOnly(classes, DIGIT | DOT)) return 'server_name_ip_literal';
  return labelsFit && labelFits(end - labelStart) ? undefined : 'server_name_not_dns';
}

/** Returns the name in lower case. {@link serverNameFault} must have accepted it. */
export function serverNameText(bytes: Buffer, start: number, end: number): string {
  // toLowerCase() does not allocate if nothing changes.
  return bytes.toString('latin1', start, end).toLowerCase();
}

function labelFits(lengthBytes: number): boolean {
  return lengthBytes > 0 && lengthBytes <= MAX_LABEL_BYTES;
}

function hasOnly(classes: number, allowed: number): boolean {
  return (classes & ~allowed) === 0;
}
