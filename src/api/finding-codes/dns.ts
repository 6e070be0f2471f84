/**
 * Findings of `snicket dns`.
 */
import type { FindingEntry } from './entry.ts';

/** The entries, by code. */
export const DNS_FINDINGS = {
  AddressUnknown: {
    meaning:
      'The address of the Edge is unknown: it has none, its controller reports an invalid one, or its name has no address.',
    action:
      'Set spec.addresses of the Edge to IP addresses, wait for its load balancer, or check that its name resolves.',
  },
  RecordsUnsupported: {
    meaning:
      'Some records cannot be written in this format, such as a name that points to a name, or to both names and addresses.',
    action: 'Set spec.addresses of the Edge to IP addresses, or use another format.',
  },
} as const satisfies Record<string, FindingEntry>;
