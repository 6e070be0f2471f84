/**
 * Tokens, before they go into a header.
 */

/**
 * Whether a token can be sent: printable ASCII and no more. A line break would be the beginning of another header, and
 * what is not ASCII may become one when it is cut to bytes.
 */
export function isSendable(token: string): boolean {
  return /^[\x20-\x7e]+$/.test(token);
}

/** What is wrong with the others; it does not quote them. */
export const UNSENDABLE =
  'a token with line breaks, control characters or characters that are not ASCII; write the token alone, in one line';
