import type { CodeEntry } from './entry.ts';

/** Codes of the path to the edge: hops dns and edge. */
export const EDGE_HOP_CODES = {
  DnsResolves: {
    hop: 'dns',
    state: 'Pass',
    title: 'hosts resolve',
    meaning: 'Every host has addresses, and all of them are addresses of the edge.',
  },
  DnsNoAnswer: {
    hop: 'dns',
    state: 'Fail',
    title: 'host has no address',
    meaning: 'Clients cannot find the edge: DNS knows no address of the host.',
    action: 'add a DNS record for {host} that leads to {edge}',
  },
  DnsResolverFailed: {
    hop: 'dns',
    state: 'Fail',
    title: 'resolver failed',
    meaning:
      'Whether the host has an address is not known: the resolver failed, or did not answer in time.',
    action: 'see that the resolver of the machine that probes answers for {host}',
  },
  DnsElsewhere: {
    hop: 'dns',
    state: 'Fail',
    title: 'host leads elsewhere',
    meaning: 'Some or all clients dial a machine that is not the edge.',
    action:
      'let the DNS record of {host} lead to {edge} alone, or correct the addresses of the Edge',
  },
  DnsMismatch: {
    hop: 'dns',
    state: 'Pass',
    title: 'DNS and Edge differ',
    meaning:
      'The host resolves to other addresses than the Edge has, and the tenant is reachable at one of them. That is normal with split-horizon DNS.',
    action:
      'if this is not split-horizon DNS, point the DNS record of {host} to {edge}, or correct the addresses of the Edge',
  },

  EdgeAnswers: {
    hop: 'edge',
    state: 'Pass',
    title: 'edge accepts',
    meaning: 'The edge accepts TCP connections.',
  },
  EdgeDegraded: {
    hop: 'edge',
    state: 'Pass',
    title: 'an address of the edge is down',
    meaning:
      'At least one address of the edge accepts connections, and at least one does not. Some clients wait until they try the next address.',
    action:
      'check the edge at {address}, or remove that address from the Edge and from the DNS records',
  },
  EdgeNoAddress: {
    hop: 'edge',
    state: 'Fail',
    title: 'edge has no address',
    meaning: 'The edge is known by a name only, and that name has no address.',
    action: 'see that {edge} can be resolved, or write the IP addresses of the edge into the Edge',
  },
  EdgeRefused: {
    hop: 'edge',
    state: 'Fail',
    title: 'edge refuses',
    meaning: 'Nothing listens on the port of the edge.',
    action: 'see that the edge runs and listens on port {port}, or correct the port of the Edge',
  },
  EdgeTimeout: {
    hop: 'edge',
    state: 'Fail',
    title: 'edge is silent',
    meaning: 'The edge does not answer a dial: it is down, or something on the way drops packets.',
    action:
      'see that the edge runs and that firewalls and security groups let TCP port {port} pass',
  },
  EdgeUnreachable: {
    hop: 'edge',
    state: 'Fail',
    title: 'no way to the edge',
    meaning: 'The network has no way to the address of the edge.',
    action: 'correct the addresses of the Edge, or the routes of the machine that probes',
  },
} as const satisfies Record<string, CodeEntry>;
