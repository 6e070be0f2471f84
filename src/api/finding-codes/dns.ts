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
  AddressIgnored: {
    meaning: 'The Edge has both IP addresses and names, but a record cannot point to both.',
    action: 'To use other ones, set spec.addresses of the Edge.',
  },
  AliasUnsupported: {
    meaning: 'The Edge has a name, but in this format a name cannot point to a name.',
    action: 'Set spec.addresses of the Edge to IP addresses, or use another format.',
  },
  RecordsUnsupported: {
    meaning: 'Records cannot be written in this format.',
    action: 'Follow the message, or use another format.',
  },
  HostAddressMismatch: {
    meaning:
      'A host that contains its own address, as with sslip.io, contains another than that of the Edge.',
    action: 'Correct spec.domain of the Edge, or spec.hosts of the Exposure.',
  },
} as const satisfies Record<string, FindingEntry>;
