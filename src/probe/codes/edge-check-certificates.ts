import type { CodeEntry } from './entry.ts';

/** Codes for the presented certificates. */
export const CERTIFICATE_CODES = {
  PassthroughNotProven: {
    of: ['passthrough'],
    state: 'Warn',
    meaning:
      'Each host presents a certificate that includes its name. An edge that terminates TLS could do the same.',
    action: 'Pass the CA of each tenant with --ca to prove passthrough.',
  },
  PassthroughEdgeTerminates: {
    of: ['passthrough'],
    state: 'Fail',
    meaning: 'The edge presents a certificate of no tenant for the host.',
    action:
      "If this is the tenant's own certificate of {host}, pass its CA with --ca. Otherwise, enable TLS passthrough at the edge for {host}. Some edges also do this for a host without a route, so check that its route was accepted.",
  },
  PassthroughUnknownAuthority: {
    of: ['passthrough'],
    state: 'Fail',
    meaning:
      'An API server answers for the host, but no given CA signed its certificate: a CA is missing, or the route points to another control plane.',
    action:
      "If this is the tenant's own certificate of {host}, pass its CA with --ca. Otherwise, check where the route of {host} points.",
  },
  PassthroughOtherHost: {
    of: ['passthrough'],
    state: 'Fail',
    meaning: 'Clients of one host reach the server of another, which rejects them.',
    action: 'Look for a second route that claims {host}, and remove it.',
  },
  PassthroughNameMissing: {
    of: ['passthrough'],
    state: 'Fail',
    meaning: 'TLS ends at a tenant whose certificate does not include the host.',
    action: 'Add {host} to the alternative names of the certificate behind the edge.',
  },
  PassthroughRefused: {
    of: ['passthrough'],
    state: 'Fail',
    meaning: 'The edge has no route for the host, or its backend does not answer.',
    action: 'Check that the edge accepted the route of {host}, and that its server runs.',
  },
  PassthroughNotTls: {
    of: ['passthrough'],
    state: 'Fail',
    meaning: 'The server for the host does not speak TLS.',
    action:
      'Check that this is the TLS port of the edge, and that the route of {host} was accepted.',
  },
  PassthroughTimeout: {
    of: ['passthrough'],
    state: 'Fail',
    meaning: 'The edge accepts the connection, but the TLS handshake does not complete.',
    action: 'Check that the edge reaches the server of {host}, or raise --timeout.',
  },

  CertificateShared: {
    of: ['own-certificates'],
    state: 'Warn',
    meaning:
      'Several hosts present the same certificate: they belong to the same tenant, or the edge terminates TLS.',
    action:
      'Pass the CA of each tenant with --ca. If {hosts} do not belong to one tenant, enable TLS passthrough.',
  },

  KeyChanges: {
    of: ['same-key'],
    state: 'Warn',
    meaning:
      'Connections for a host present different keys: it has several servers with their own keys, or two routes.',
    action: 'If {host} has one server, look for a second route that claims it.',
  },
} as const satisfies Record<string, CodeEntry>;
