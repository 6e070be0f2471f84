/**
 * Lists of application protocols in the format of TLS (RFC 7301 section 3.1): each with its length in front.
 */

/** Encodes a list. Returns undefined for an empty one, because the extension must not be empty. */
export function encodeAlpn(protocols: readonly string[]): Buffer | undefined {
  if (protocols.length === 0) return undefined;
  const list = protocols.map((protocol) => {
    if (protocol.length === 0 || protocol.length > 255) {
      throw new RangeError(`a protocol name must have 1 to 255 bytes, not ${protocol.length}`);
    }
    return String.fromCharCode(protocol.length) + protocol;
  });
  return Buffer.from(list.join(''), 'latin1');
}

/**
 * Encodes the negotiated protocol. Returns undefined if there is none. Caches the lists, since there are only two or
 * three.
 */
export function chosenAlpn(protocol: string | false | null): Buffer | undefined {
  if (typeof protocol !== 'string' || protocol === '') return undefined;
  let list = CHOSEN.get(protocol);
  if (list === undefined) {
    list = encodeAlpn([protocol]);
    if (list !== undefined && CHOSEN.size < MAX_CHOSEN) CHOSEN.set(protocol, list);
  }
  return list;
}

const CHOSEN = new Map<string, Buffer>();
/** The protocols come from pods, so the cache has a limit. */
const MAX_CHOSEN = 16;
