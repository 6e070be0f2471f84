/**
 * For tests only: when the kernel will ask whether a peer is alive.
 */
import { readFileSync } from 'node:fs';

/** Of the established connection that this holds for; from /proc/net/tcp, see the kernel's proc_net_tcp.txt. */
export function keepaliveMs(
  isMeant: (ports: { readonly localPort: number; readonly remotePort: number }) => boolean,
): number | undefined {
  for (const line of readFileSync('/proc/net/tcp', 'latin1').split('\n').slice(1)) {
    const [, local = '', remote = '', state, , timer = ''] = line.trim().split(/\s+/);
    const port = (address: string) => Number.parseInt(address.split(':')[1] ?? '', 16);
    const isEstablished = state === '01';
    if (!isEstablished || !isMeant({ localPort: port(local), remotePort: port(remote) })) continue;
    const [kind, hundredths = ''] = timer.split(':');
    return kind === '02' ? Number.parseInt(hundredths, 16) * 10 : undefined;
  }
  return undefined;
}
