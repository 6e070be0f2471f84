import { errorCode } from '../dial.ts';
import type { Lookup } from './dns.ts';

/**
 * Resolves names below `localhost` that the resolver does not know to the loopback address, as RFC 6761, section 6.3,
 * asks of resolvers. Many of them do not, and the name then fails only because of the machine that looks it up.
 */
export function withLocalhostNames(lookup: Lookup): Lookup {
  return async (host) => {
    if (!isLocalhostName(host)) return lookup(host);
    try {
      const addresses = await lookup(host);
      return addresses.length > 0 ? addresses : LOOPBACK;
    } catch (error) {
      if (errorCode(error) === '') throw error;
      return LOOPBACK;
    }
  };
}

const LOOPBACK: readonly string[] = ['127.0.0.1'];

/** Reports whether the name is `localhost` or below it, in any case, with or without a trailing dot. */
function isLocalhostName(host: string): boolean {
  return /(?:^|\.)localhost\.?$/i.test(host);
}
