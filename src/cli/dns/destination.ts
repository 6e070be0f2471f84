/**
 * Where the DNS names of tenants have to point: to the addresses of their Edge, or to its name.
 */
import { MAX_LABEL_LENGTH, MAX_NAME_LENGTH } from '../../api/values/network-values.ts';
import type { Finding } from '../../api/finding.ts';
import { canonicalAddress } from '../../kube/endpoints/endpoint-address.ts';
import { ipVersion } from '../../wire/ip-address.ts';

/** What a DNS name points to. */
export type Destination =
  /** A and AAAA records. */
  | { readonly kind: 'addresses'; readonly addresses: readonly string[] }
  /** A CNAME record: the address of the Edge is a name, as with many load balancers. */
  | { readonly kind: 'name'; readonly host: string };

/** A destination, and findings about it. */
export interface FoundDestination {
  /** Absent: the address of the Edge is not known. */
  readonly to?: Destination | undefined;
  readonly findings: readonly Finding[];
}

const LABEL = /^[a-z0-9_]([-a-z0-9_]*[a-z0-9_])?$/i;

/** Returns where an Edge is, from its known addresses. */
export function destinationOf(edge: string, known: readonly string[]): FoundDestination {
  const addresses = known.filter((one) => ipVersion(one) !== 0).map(canonicalAddress);
  const others = known.filter((one) => ipVersion(one) === 0).map(withoutDot);
  const names = others.filter(isName);
  const findings = others.filter((one) => !isName(one)).map((one) => invalidAddress(edge, one));
  if (addresses.length > 0) {
    const left =
      names.length === 0 ? [] : [ignoredAddress(edge, names, 'only its IP addresses are used')];
    return {
      to: { kind: 'addresses', addresses: inOrder(addresses) },
      findings: [...findings, ...left],
    };
  }
  const [host, ...more] = names;
  if (host === undefined) return { findings: [...findings, unknown(edge)] };
  const left = more.length === 0 ? [] : [ignoredAddress(edge, more, `only ${host} is used`)];
  return { to: { kind: 'name', host }, findings: [...findings, ...left] };
}

/** Returns the destination as text. */
export function destinationText(to: Destination): string {
  return to.kind === 'addresses' ? to.addresses.join(', ') : to.host;
}

/** Reports whether a text can be a destination. */
export function isAddressOrName(text: string): boolean {
  return ipVersion(text) !== 0 || (isName(withoutDot(text)) && /[a-z]/i.test(text));
}

/** Removes duplicates and puts IPv4 first. Otherwise keeps the order of the Edge. */
function inOrder(addresses: readonly string[]): readonly string[] {
  return [...new Set(addresses)].toSorted((a, b) => ipVersion(a) - ipVersion(b));
}

function withoutDot(name: string): string {
  return name.replace(/\.$/, '').toLowerCase();
}

/**
 * Reports whether a text is a DNS name. Checked because other controllers write these texts into a status, from where
 * they would end up in zone files and scripts.
 */
function isName(text: string): boolean {
  return (
    text.length <= MAX_NAME_LENGTH &&
    text.split('.').every((label) => label.length <= MAX_LABEL_LENGTH && LABEL.test(label))
  );
}

function unknown(edge: string): Finding {
  return {
    code: 'AddressUnknown',
    severity: 'error',
    message: `The address of Edge ${edge} is unknown: it has no spec.addresses, and its controller reports none.`,
    action:
      'Set spec.addresses of the Edge, or wait for the load balancer if its Service is of type LoadBalancer.',
  };
}

function invalidAddress(edge: string, text: string): Finding {
  return {
    code: 'AddressUnknown',
    severity: 'error',
    message: `The controller of Edge ${edge} reports ${JSON.stringify(text)}, which is neither an address nor a name.`,
    action: 'Set spec.addresses of the Edge.',
  };
}

function ignoredAddress(edge: string, names: readonly string[], why: string): Finding {
  return {
    code: 'RecordsUnsupported',
    severity: 'warning',
    message: `Edge ${edge} also has ${names.join(', ')}, but a name cannot point to both: ${why}.`,
    action: 'To use other ones, set spec.addresses of the Edge.',
  };
}
