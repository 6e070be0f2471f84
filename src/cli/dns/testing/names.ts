/**
 * For tests only: names that have to point to an Edge.
 */
import type { KnownName } from '../entries.ts';

/** The default destination. */
export const HERE = { kind: 'addresses', addresses: ['203.0.113.10'] } as const;

/** Returns a name of an Exposure. */
export function nameOf(host: string, more: Partial<KnownName> = {}): KnownName {
  return {
    exposure: 'tenants/blue',
    edge: 'shared',
    host,
    domain: 'example.com',
    port: 443,
    to: HERE,
    ...more,
  };
}
