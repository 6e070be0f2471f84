import type { EdgeCodeEntry } from './entry.ts';

/** Codes for the presented certificates. */
export const CERTIFICATE_CODES = {
  PassthroughProven: {
    check: 'passthrough',
    state: 'Pass',
    title: 'TLS ends behind the edge',
    meaning: 'Each host presents a certificate that includes its name and is signed by a given CA.',
  },
  PassthroughNotProven: {
    check: 'passthrough',
    state: 'Warn',
    title: 'passthrough is likely',
    meaning:
      'Each host presents a certificate that includes its name. An edge that terminates TLS could do the same.',
    action: 'Pass the CA of each tenant with --ca to prove passthrough.',
  },
  PassthroughEdgeTerminates: {
    check: 'passthrough',
    state: 'Fail',
    title: 'edge terminates TLS',
    meaning: 'The edge presents a certificate of no tenant for the host.',
    action:
      "If this is the tenant's own certificate of {host}, pass its CA with --ca. Otherwise, enable TLS passthrough at the edge for {host}. Some edges also do this for a host without a route, so check that its route was accepted.",
  },
  PassthroughUnknownAuthority: {
    check: 'passthrough',
    state: 'Fail',
    title: 'API server of an unknown CA',
    meaning:
      'An API server answers for the host, but no given CA signed its certificate: a CA is missing, or the route points to another control plane.',
    action:
      "If this is the tenant's own certificate of {host}, pass its CA with --ca. Otherwise, check where the route of {host} points.",
  },
  PassthroughOtherHost: {
    check: 'passthrough',
    state: 'Fail',
    title: 'reaches another host',
    meaning: 'Clients of one host reach the server of another, which rejects them.',
    action: 'Look for a second route that claims {host}, and remove it.',
  },
  PassthroughNameMissing: {
    check: 'passthrough',
    state: 'Fail',
    title: 'certificate lacks the host',
    meaning: 'TLS ends at a tenant whose certificate does not include the host.',
    action: 'Add {host} to the alternative names of the certificate behind the edge.',
  },
  PassthroughRefused: {
    check: 'passthrough',
    state: 'Fail',
    title: 'host is not served',
    meaning: 'The edge has no route for the host, or its backend does not answer.',
    action: 'Check that the edge accepted the route of {host}, and that its server runs.',
  },
  PassthroughNotTls: {
    check: 'passthrough',
    state: 'Fail',
    title: 'no TLS',
    meaning: 'The server for the host does not speak TLS.',
    action:
      'Check that this is the TLS port of the edge, and that the route of {host} was accepted.',
  },
  PassthroughTimeout: {
    check: 'passthrough',
    state: 'Fail',
    title: 'handshake times out',
    meaning: 'The edge accepts the connection, but the TLS handshake does not complete.',
    action: 'Check that the edge reaches the server of {host}, or raise --timeout.',
  },

  CertificatesDiffer: {
    check: 'own-certificates',
    state: 'Pass',
    title: 'each host has its own',
    meaning:
      'No two hosts present the same certificate, except for hosts of the same tenant with a given CA.',
  },
  CertificateShared: {
    check: 'own-certificates',
    state: 'Warn',
    title: 'hosts share a certificate',
    meaning:
      'Several hosts present the same certificate: they belong to the same tenant, or the edge terminates TLS.',
    action:
      'Pass the CA of each tenant with --ca. If {hosts} do not belong to one tenant, enable TLS passthrough.',
  },

  KeySame: {
    check: 'same-key',
    state: 'Pass',
    title: 'same key each time',
    meaning: 'All connections for a host present the same server key.',
  },
  KeyChanges: {
    check: 'same-key',
    state: 'Warn',
    title: 'the key changes',
    meaning:
      'Connections for a host present different keys: it has several servers with their own keys, or two routes.',
    action: 'If {host} has one server, look for a second route that claims it.',
  },
} as const satisfies Record<string, EdgeCodeEntry>;
