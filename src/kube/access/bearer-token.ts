/**
 * Checks bearer tokens before they are sent in a header.
 */

/**
 * Reports whether a token can be sent: it must be printable ASCII. A line break would start another header, and a
 * non-ASCII character may turn into a line break when it is truncated to a byte.
 */
export function isSendable(token: string): boolean {
  return /^[\x20-\x7e]+$/.test(token);
}

/** The description of an unsendable token. It does not quote the token. */
export const UNSENDABLE =
  'a token with line breaks, control characters or non-ASCII characters; write only the token, on one line';
