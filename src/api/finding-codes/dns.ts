/**
 * Findings of `snicket dns`.
 */
import type { FindingEntry } from './entry.ts';

/** The entries, by code. */
export const DNS_FINDINGS = {
  AddressUnknown: {
    meaning: 'nobody says where the Edge is',
    action: 'write spec.addresses of the Edge, or wait for its load balancer',
  },
  AddressInvalid: {
    meaning: 'the controller of the Edge says an address that is none',
    action: 'write spec.addresses of the Edge',
  },
  AddressPassedOver: {
    meaning: 'the Edge has addresses and names, and a record cannot lead to both',
    action: 'write spec.addresses of the Edge if another is meant',
  },
  AliasUnwritable: {
    meaning: 'the Edge is at a name, and in this format a name cannot lead to a name',
    action: 'write IP addresses as spec.addresses of the Edge, or take another format',
  },
  RecordsUnwritable: {
    meaning: 'records cannot be written in this format',
    action: 'do as the message says, or take another format',
  },
  HostElsewhere: {
    meaning:
      'a host that says its own address, as with sslip.io, says another than that of the Edge',
    action: 'correct spec.domain of the Edge, or spec.hosts of the Exposure',
  },
} as const satisfies Record<string, FindingEntry>;
