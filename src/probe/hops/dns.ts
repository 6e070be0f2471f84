/**
 * dns: each host resolves to addresses of the edge.
 */
import { canonicalAddress } from '../../kube/endpoints/endpoint-address.ts';
import { errorCode } from '../dial.ts';
import { hopResult, type HopResult } from '../hop.ts';
import { withTimeout, TIMED_OUT, type Limits } from '../limits.ts';

/** Returns all addresses of a name. @throws the resolver's error, with its `code`. */
export type Lookup = (host: string) => Promise<readonly string[]>;

/** The result of a lookup. */
export type Resolved =
  | { readonly kind: 'addresses'; readonly addresses: readonly string[] }
  /** The name does not exist, or has no address. */
  | { readonly kind: 'none' }
  /** A clause that follows "the resolver": `did not answer in 5000 ms`. */
  | { readonly kind: 'failed'; readonly why: string };

/** Codes of c-ares and libc for a name that does not exist or has no address. */
const NO_ADDRESS = new Set(['ENOTFOUND', 'ENODATA', 'DNS_ENOTFOUND', 'DNS_ENODATA']);

/** Resolves a name. @throws only the reason of the caller's signal. */
export async function resolveHost(host: string, lookup: Lookup, limits: Limits): Promise<Resolved> {
  const answer = await withTimeout(limits, async (): Promise<Resolved> => {
    try {
      // Sorted, since resolvers rotate addresses and equal results must have equal messages.
      const addresses = [...new Set(await lookup(host))].toSorted();
      return addresses.length === 0 ? { kind: 'none' } : { kind: 'addresses', addresses };
    } catch (error) {
      const code = errorCode(error);
      if (NO_ADDRESS.has(code)) return { kind: 'none' };
      if (code === '') throw error;
      return { kind: 'failed', why: `failed with ${code}` };
    }
  });
  return answer === TIMED_OUT
    ? { kind: 'failed', why: `did not answer within ${limits.timeoutMs} ms` }
    : answer;
}

/**
 * Returns the result for the lookups of all hosts: the first problem, if any.
 *
 * `edge` has the addresses of the edge. If empty, they are unknown, and any address passes. `isReachable` says that the
 * tenant responds at one of the addresses: then different addresses are a warning.
 */
export function judgeDns(
  resolved: ReadonlyMap<string, Resolved>,
  edge: readonly string[],
  isReachable = false,
): HopResult {
  const target = [...resolved.keys()].join(', ');
  const edgeText = edge.length === 0 ? 'the edge' : edge.join(', ');
  const allowed = new Set(edge.map(canonicalAddress));
  const found: string[] = [];
  let mismatch: HopResult | undefined;
  for (const [host, answer] of resolved) {
    const values = { host, edge: edgeText };
    if (answer.kind === 'none') {
      return hopResult('dns', 'DnsNoAnswer', target, `Host ${host} has no address in DNS.`, values);
    }
    if (answer.kind === 'failed') {
      const message = `The resolver ${answer.why} for host ${host}.`;
      return hopResult('dns', 'DnsResolverFailed', target, message, values);
    }
    const wrong = answer.addresses.filter((address) => !allowed.has(canonicalAddress(address)));
    if (edge.length > 0 && wrong.length > 0) {
      const message = `Host ${host} resolves to ${wrong.join(', ')}, but the edge has ${edgeText}.`;
      if (!isReachable) return hopResult('dns', 'DnsWrongAddress', target, message, values);
      mismatch ??= hopResult('dns', 'DnsMismatch', target, message, values);
    }
    found.push(`Host ${host} resolves to ${answer.addresses.join(', ')}.`);
  }
  return mismatch ?? hopResult('dns', 'Passed', target, found.join(' '));
}
