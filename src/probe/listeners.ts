/**
 * The listening sockets of this machine, from the kernel's table.
 */

/** The state LISTEN in /proc/net/tcp. */
const LISTEN = '0A';

/**
 * Returns the IPv4 addresses with a listener at a port, from the text of /proc/net/tcp. Each revision of the proxy
 * serves its health on a different loopback address, which only this table shows.
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

/** Parses `0100007F`, in the byte order of a little-endian machine. */
function ipv4Of(text: string): string | undefined {
  if (!/^[0-9A-F]{8}$/i.test(text)) return undefined;
  return [...Buffer.from(text, 'hex')].toReversed().join('.');
}
