/**
 * What names lead to now, beside what they should lead to.
 */
import { quoted } from '../../text/quote.ts';
import { judgeDns, resolveHost, type Lookup, type Resolved } from '../../probe/hops/dns.ts';
import { canonicalAddress } from '../../kube/endpoints/endpoint-address.ts';
import type { Destination } from './destination.ts';
import type { WantedName } from './wanted-names.ts';

/**
 * Where a name leads:
 * - `ok`: it leads to the Edge, and nowhere else
 * - `missing`: it leads nowhere
 * - `wrong`: it leads elsewhere
 * - `unknown`: the resolver failed, or nobody knows where the Edge is
 */
export type NameState = 'ok' | 'missing' | 'wrong' | 'unknown';

/** A name, and what was found. */
export interface NameCheck {
  readonly name: WantedName;
  readonly state: NameState;
  /** What it leads to. */
  readonly found: readonly string[];
  /** A stable code. */
  readonly code: string;
  readonly message: string;
  readonly action?: string | undefined;
}

/** How to look names up. */
export interface CheckOptions {
  readonly lookup: Lookup;
  readonly signal?: AbortSignal;
  /** Of one name. Default 5000. */
  readonly timeoutMs?: number;
}

/** How many are looked up together: each waits for the resolver in a thread of its own. */
const TOGETHER = 16;

const STATES: Readonly<Record<string, NameState>> = {
  DnsResolves: 'ok',
  DnsNoAnswer: 'missing',
  DnsElsewhere: 'wrong',
  DnsResolverFailed: 'unknown',
};

/** Looks all of them up, in their order. @throws the reason of the signal only. */
export async function checkNames(
  names: readonly WantedName[],
  { lookup, signal, timeoutMs = 5000 }: CheckOptions,
): Promise<readonly NameCheck[]> {
  const asked = new Map<string, Promise<Resolved>>();
  const resolve = async (host: string): Promise<Resolved> => {
    const known = asked.get(host) ?? resolveHost(host, lookup, { signal, timeoutMs });
    asked.set(host, known);
    return known;
  };
  const checks: NameCheck[] = [];
  for (let at = 0; at < names.length; at += TOGETHER) {
    const some = names.slice(at, at + TOGETHER);
    checks.push(...(await Promise.all(some.map(async (name) => checkName(name, resolve)))));
  }
  return checks;
}

async function checkName(
  name: WantedName,
  resolve: (host: string) => Promise<Resolved>,
): Promise<NameCheck> {
  const { host, edge, to } = name;
  const answer = await resolve(host);
  const found = addressesIn(answer);
  if (to === undefined) {
    const message = `nobody says where Edge ${edge} is`;
    const action =
      'write spec.addresses of the Edge, or wait for the load balancer if its Service is of type LoadBalancer';
    return { name, state: 'unknown', found, code: 'AddressUnknown', message, action };
  }
  const allowed = await allowedAddresses(to, found, resolve);
  if (allowed.length === 0 && to.kind === 'name') {
    const message = `Edge ${edge} is at ${to.host}, which has no address`;
    const action = 'see that the load balancer of the Edge is there, or write spec.addresses';
    return { name, state: 'unknown', found, code: 'EdgeNoAddress', message, action };
  }
  const { code, message, action } = judgeDns(new Map([[host, answer]]), allowed);
  return { name, state: STATES[code] ?? 'unknown', found, code, message: quoted(message), action };
}

/** Load balancers with many addresses give some of them at a time: of those of a name one in common is enough. */
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
