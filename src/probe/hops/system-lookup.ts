import { getServers, Resolver, setServers } from 'node:dns';
import { errorCode } from '../dial.ts';
import type { Lookup } from './dns.ts';

/** No DNS server answered: there is none at its address, or it is silent. */
const NO_ANSWER = new Set(['DNS_ECONNREFUSED', 'DNS_ETIMEOUT']);

/**
 * As this machine resolves hosts: by `/etc/hosts`, and by the DNS servers of `/etc/resolv.conf`.
 *
 * By c-ares. libc would block a thread for as long as a DNS server is silent, and Bun has few: 100 such lookups kept a
 * signature by WebCrypto, and with it the certificate of a tenant, waiting for more than 8 s. But c-ares reads the
 * DNS servers once, at its first lookup. So they are read again when none of them answers.
 */
export const systemLookup: Lookup = async (host) => {
  const asked = getServers();
  try {
    return await addressesOf(host);
  } catch (error) {
    if (!NO_ANSWER.has(errorCode(error))) throw error;
    const present = new Resolver().getServers();
    if (Bun.deepEquals(present, asked)) throw error;
    setServers(present);
    return addressesOf(host);
  }
};

async function addressesOf(host: string): Promise<readonly string[]> {
  const answers = await Bun.dns.lookup(host, { backend: 'c-ares' });
  return answers.map(({ address }) => address);
}
