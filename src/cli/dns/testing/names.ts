/**
 * For tests only: names that have to lead to an Edge.
 */
import type { KnownName } from '../entries.ts';

/** Where they lead, if nothing else is said. */
export const HERE = { kind: 'addresses', addresses: ['203.0.113.10'] } as const;

/** A name of an Exposure. */
export function nameOf(host: string, more: Partial<KnownName> = {}): KnownName {
  return {
    exposure: 'tenants/blue',
    edge: 'shared',
    host,
    domain: 'example.com',
    to: HERE,
    ...more,
  };
}
