/**
 * The file with the addresses of the edge: one `HOST:PORT` per line, a DNS name or an IP address.
 */
import { parseEdgeAddress, type EdgeAddress } from '../../net/edge-address.ts';

/**
 * Parses the addresses in a file. Blank lines and lines that begin with `#` are ignored. @throws Error with a message
 * for the user
 */
export function parseEdgeFile(bytes: Uint8Array, path: string): readonly EdgeAddress[] {
  const lines = new TextDecoder().decode(bytes).split('\n');
  const addresses = lines.flatMap((line, at) => {
    const text = line.trim();
    return text === '' || text.startsWith('#') ? [] : [parseLine(text, `${path}:${at + 1}`)];
  });
  if (addresses.length === 0) {
    throw new Error(`${path} contains no address; write one HOST:PORT per line`);
  }
  return addresses;
}

function parseLine(text: string, position: string): EdgeAddress {
  try {
    return parseEdgeAddress(text);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new Error(`${position}: ${message}`, { cause: error });
  }
}
