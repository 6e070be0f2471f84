/**
 * The file of master keys, from which tenant keys are derived (see tenant-key.ts). It has one key per line, in base64
 * or hex, of at least 32 bytes. Empty lines and lines that start with # are ignored. During a rotation the file has two
 * keys, in any order.
 */

/** The error for an invalid key file. The message has the number of the line, never its content. */
export class KeyFileError extends Error {
  readonly code = 'key_file_invalid';
  override readonly name = 'KeyFileError';
}

const MASTER_KEY_BYTES = 32;
const MAX_KEYS = 2;

/** Parses the content of a key file. @throws KeyFileError */
export function parseKeys(text: string, file: string): readonly Uint8Array[] {
  const keys: Uint8Array[] = [];
  for (const [index, line] of text.split('\n').entries()) {
    const word = line.trim();
    if (word === '' || word.startsWith('#')) continue;
    const place = `${file}:${index + 1}:`;
    const key = decode(word);
    if (key === undefined) {
      throw new KeyFileError(
        `${place} not a valid base64 or hex key; generate one with: openssl rand -base64 32`,
      );
    }
    if (key.length < MASTER_KEY_BYTES) {
      throw new KeyFileError(
        `${place} the key has ${key.length} bytes, and needs ${MASTER_KEY_BYTES}; generate one with: openssl rand -base64 32`,
      );
    }
    keys.push(key);
  }
  if (keys.length === 0) throw new KeyFileError(`${file}: no key; write one line of base64 or hex`);
  if (keys.length > MAX_KEYS) {
    throw new KeyFileError(
      `${file}: ${keys.length} keys; keep the current key and at most one older key`,
    );
  }
  return keys;
}

/**
 * Tries hex first, because 64 hex digits are also valid base64, for 48 other bytes. Base64 must equal the encoding of
 * its bytes: a decoder would accept a truncated key as another key.
 */
function decode(word: string): Uint8Array | undefined {
  if (word.length % 2 === 0 && /^[0-9a-fA-F]+$/.test(word)) return Buffer.from(word, 'hex');
  const key = Buffer.from(word, 'base64');
  const isPadded = key.toString('base64') === word.replaceAll('-', '+').replaceAll('_', '/');
  return isPadded || key.toString('base64url') === word ? key : undefined;
}
