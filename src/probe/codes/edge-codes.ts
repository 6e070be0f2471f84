import { DNS_FINDINGS } from '../../api/finding-codes/dns.ts';
import type { CodeEntry } from './entry.ts';

/** Codes of the path to the edge: hops dns and edge. */
export const EDGE_HOP_CODES = {
  DnsNoAnswer: {
    of: ['dns'],
    state: 'Fail',
    meaning: 'Clients cannot find the edge because the host has no address in DNS.',
    action: 'Add a DNS record for {host} that points to {edge}.',
  },
  DnsResolverFailed: {
    of: ['dns'],
    state: 'Fail',
    meaning: 'The resolver failed or timed out, so it is unknown whether the host has an address.',
    action: 'Check that the resolver of the probing machine answers for {host}.',
  },
  DnsWrongAddress: {
    of: ['dns'],
    state: 'Fail',
    meaning: 'Some or all clients dial a machine that is not the edge.',
    action: 'Point the DNS record of {host} to {edge} alone, or correct the addresses of the Edge.',
  },
  DnsMismatch: {
    of: ['dns'],
    state: 'Warn',
    meaning:
      'The host resolves to other addresses than the Edge has, and the tenant is reachable at one of them. This is normal with split-horizon DNS.',
    action:
      'If this is not split-horizon DNS, point the DNS record of {host} to {edge}, or correct the addresses of the Edge.',
  },

  EdgeRefused: {
    of: ['edge'],
    state: 'Fail',
    meaning: 'Nothing listens on the port of the edge.',
    action: 'Check that the edge runs and listens on port {port}, or correct the port of the Edge.',
  },
  EdgeUnreachable: {
    of: ['edge'],
    state: 'Fail',
    meaning:
      'The edge does not answer: it is down, a firewall drops packets, or the network has no route to its address.',
    action:
      'Check that the edge runs, that firewalls and security groups allow TCP port {port}, and that the addresses of the Edge and the routes of the probing machine are correct.',
  },
  AddressUnknown: { ...DNS_FINDINGS.AddressUnknown, of: ['edge'], state: 'Fail' },
} as const satisfies Record<string, CodeEntry>;
