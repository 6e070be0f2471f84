/**
 * Compares what DNS names resolve to with where they should point.
 */
import { quoted } from '../../text/quote.ts';
import { judgeDns, resolveHost, type Lookup, type Resolved } from '../../probe/hops/dns.ts';
import { canonicalAddress } from '../../kube/endpoints/endpoint-address.ts';
import type { Destination } from './destination.ts';
import type { RequiredName } from './required-names.ts';

/**
 * Where a name points:
 * - `ok`: to the Edge, and nowhere else
 * - `missing`: it has no address
 * - `wrong`: elsewhere
 * - `unknown`: the resolver failed, or the address of the Edge is not known
 */
export type NameState = 'ok' | 'missing' | 'wrong' | 'unknown';

/** A name, and the result of its check. */
export interface NameCheck {
  readonly name: RequiredName;
  readonly state: NameState;
  /** The addresses that the name resolves to. */
  readonly found: readonly string[];
  /** A stable code. */
  readonly code: string;
  readonly message: string;
  readonly action?: string | undefined;
}

interface CheckOptions {
  readonly lookup: Lookup;
  readonly signal?: AbortSignal;
  /** Time limit for one name. Default 5000. */
  readonly timeoutMs?: number;
}

/** Maximum number of concurrent lookups. Each one occupies a thread while it waits for the resolver. */
const MAX_CONCURRENT = 16;

const STATES: Readonly<Record<string, NameState>> = {
  Passed: 'ok',
  DnsNoAnswer: 'missing',
  DnsWrongAddress: 'wrong',
  DnsResolverFailed: 'unknown',
};

/** Looks up all names and returns the results in the same order. @throws only the reason of the signal */
export async function checkNames(
  names: readonly RequiredName[],
  { lookup, signal, timeoutMs = 5000 }: CheckOptions,
): Promise<readonly NameCheck[]> {
  const asked = new Map<string, Promise<Resolved>>();
  const resolve = async (host: string): Promise<Resolved> => {
    const known = asked.get(host) ?? resolveHost(host, lookup, { signal, timeoutMs });
    asked.set(host, known);
    return known;
  };
  const checks: NameCheck[] = [];
  for (let at = 0; at < names.length; at += MAX_CONCURRENT) {
    const some = names.slice(at, at + MAX_CONCURRENT);
    checks.push(...(await Promise.all(some.map(async (name) => checkName(name, resolve)))));
  }
  return checks;
}

async function checkName(
  name: RequiredName,
  resolve: (host: string) => Promise<Resolved>,
): Promise<NameCheck> {
  const { host, edge, to } = name;
  const answer = await resolve(host);
  const found = addressesIn(answer);
  if (to === undefined) {
    const message = `The address of Edge ${edge} is unknown`;
    const action =
      'write spec.addresses of the Edge, or wait for the load balancer if its Service is of type LoadBalancer';
    return { name, state: 'unknown', found, code: 'AddressUnknown', message, action };
  }
  const allowed = await allowedAddresses(to, found, resolve);
  if (allowed.length === 0 && to.kind === 'name') {
    const message = `Edge ${edge} is at ${to.host}, which has no address`;
    const action = 'see that the load balancer of the Edge is there, or write spec.addresses';
    return { name, state: 'unknown', found, code: 'AddressUnknown', message, action };
  }
  const { code, message, action } = judgeDns(new Map([[host, answer]]), allowed);
  return { name, state: STATES[code] ?? 'unknown', found, code, message: quoted(message), action };
}

/**
 * Returns the addresses that a name may have. A load balancer with many addresses returns only some of them per query,
 * so one address in common is enough.
 */
async function allowedAddresses(
  to: Destination,
  found: readonly string[],
  resolve: (host: string) => Promise<Resolved>,
): Promise<readonly string[]> {
  if (to.kind === 'addresses') return to.addresses;
  const behind = addressesIn(await resolve(to.host));
  return found.some((address) => behind.includes(address)) ? [...behind, ...found] : behind;
}

function addressesIn(resolved: Resolved): readonly string[] {
  return resolved.kind === 'addresses' ? resolved.addresses.map(canonicalAddress) : [];
}
