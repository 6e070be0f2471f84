import { getServers, Resolver, setServers } from 'node:dns';
import { errorCode } from '../dial.ts';
import type { Lookup } from './dns.ts';
import { withLocalhostNames } from './localhost-names.ts';

/** Codes if no DNS server answered: none listens at the address, or it does not respond. */
const NO_ANSWER = new Set(['DNS_ECONNREFUSED', 'DNS_ETIMEOUT']);

/** Resolves hosts as {@link fromResolver} does, and names below `localhost` also where the resolver does not know them. */
export const systemLookup: Lookup = withLocalhostNames(fromResolver);

/**
 * Resolves hosts with `/etc/hosts` and the DNS servers of `/etc/resolv.conf`.
 *
 * Uses c-ares. libc would block a thread while a DNS server does not respond, and Bun has few threads: 100 such lookups
 * delayed a WebCrypto signature, and with it the certificate of a tenant, by more than 8 s. But c-ares reads the DNS
 * servers once, at its first lookup. So they are read again when none of them responds. A changed resolv.conf takes
 * effect at once if the previous server refuses lookups, and about 24 s after the first timeout if it is silent
 * (measured with Bun 1.4.4).
 */
async function fromResolver(host: string): Promise<readonly string[]> {
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
}

async function addressesOf(host: string): Promise<readonly string[]> {
  const answers = await Bun.dns.lookup(host, { backend: 'c-ares' });
  return answers.map(({ address }) => address);
}
