/**
 * The file of master keys: one key per line, in base64 or hex, of at least 32 bytes. Empty lines and lines that begin
 * with # are skipped. Two keys are valid while one is being replaced by the other; the order does not matter.
 */

/** A key file that cannot be used. The message says which line, and never what is in it. */
export class KeyFileError extends Error {
  readonly code = 'key_file_invalid';
  override readonly name = 'KeyFileError';
}

const MASTER_KEY_BYTES = 32;
const MAX_KEYS = 2;

/** The keys in a text. @throws KeyFileError */
export function parseKeys(text: string, file: string): readonly Uint8Array[] {
  const keys: Uint8Array[] = [];
  for (const [index, line] of text.split('\n').entries()) {
    const word = line.trim();
    if (word === '' || word.startsWith('#')) continue;
    const place = `${file}:${index + 1}:`;
    const key = decode(word);
    if (key === undefined) {
      throw new KeyFileError(
        `${place} neither base64 nor hex, or not all of it; make a key with: openssl rand -base64 32`,
      );
    }
    if (key.length < MASTER_KEY_BYTES) {
      throw new KeyFileError(
        `${place} a key of ${key.length} bytes; it needs ${MASTER_KEY_BYTES} random ones: openssl rand -base64 32`,
      );
    }
    keys.push(key);
  }
  if (keys.length === 0) throw new KeyFileError(`${file}: no key; write one line of base64 or hex`);
  if (keys.length > MAX_KEYS) {
    throw new KeyFileError(
      `${file}: ${keys.length} keys; keep the current one and at most one older`,
    );
  }
  return keys;
}

/**
 * 64 hex digits would also pass as base64, for 48 bytes that nobody meant: hex goes first. Base64 has to be what its
 * bytes encode to: of a longer key that lost its end, a decoder would make another key.
 */
function decode(word: string): Uint8Array | undefined {
  if (word.length % 2 === 0 && /^[0-9a-fA-F]+$/.test(word)) return Buffer.from(word, 'hex');
  const key = Buffer.from(word, 'base64');
  const isPadded = key.toString('base64') === word.replaceAll('-', '+').replaceAll('_', '/');
  return isPadded || key.toString('base64url') === word ? key : undefined;
}
