/**
 * Who listens on this machine, by the kernel's own table.
 */

/** State LISTEN of /proc/net/tcp. */
const LISTEN = '0A';

/**
 * The IPv4 addresses on which somebody listens at a port, from the text of /proc/net/tcp. A proxy has its health on a
 * loopback address that no other revision of it has, so nobody could guess it.
 */
export function listeningAddresses(table: string, port: number): readonly string[] {
  const found = table.split('\n').flatMap((line) => {
    const [, local = '', , state] = line.trim().split(/\s+/);
    const [address = '', portText = ''] = local.split(':');
    if (state !== LISTEN || Number.parseInt(portText, 16) !== port) return [];
    return ipv4Of(address) ?? [];
  });
  return [...new Set(found)].toSorted();
}

/** `0100007F`, the bytes in the order of a little-endian machine. */
function ipv4Of(text: string): string | undefined {
  if (!/^[0-9A-F]{8}$/i.test(text)) return undefined;
  return [...Buffer.from(text, 'hex')].toReversed().join('.');
}
