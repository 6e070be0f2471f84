/**
 * For tests only: the TCP keepalive timers of the kernel.
 */
import { readFileSync } from 'node:fs';

/**
 * Returns the time until the next keepalive probe of the first established connection that matches. Read from
 * /proc/net/tcp; the kernel documents the format in proc_net_tcp.txt.
 */
export function keepaliveMs(
  matches: (ports: { readonly localPort: number; readonly remotePort: number }) => boolean,
): number | undefined {
  for (const line of readFileSync('/proc/net/tcp', 'latin1').split('\n').slice(1)) {
    const [, local = '', remote = '', state, , timer = ''] = line.trim().split(/\s+/);
    const port = (address: string) => Number.parseInt(address.split(':')[1] ?? '', 16);
    const isEstablished = state === '01';
    if (!isEstablished || !matches({ localPort: port(local), remotePort: port(remote) })) continue;
    const [kind, hundredths = ''] = timer.split(':');
    return kind === '02' ? Number.parseInt(hundredths, 16) * 10 : undefined;
  }
  return undefined;
}
