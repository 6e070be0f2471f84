import type { EdgeCodeEntry } from './entry.ts';

/** Codes for the presented certificates. */
export const CERTIFICATE_CODES = {
  PassthroughProven: {
    check: 'passthrough',
    state: 'Pass',
    title: 'TLS ends behind the edge',
    meaning: 'Each host is answered with a certificate that has its name and is of a CA given.',
  },
  PassthroughNotProven: {
    check: 'passthrough',
    state: 'Warn',
    title: 'passthrough is likely',
    meaning:
      'Each host is answered with a certificate that has its name. An edge that ends TLS itself could do the same.',
    action: 'give the CA of each tenant by --ca, and it is certain',
  },
  PassthroughEdgeEndsTls: {
    check: 'passthrough',
    state: 'Fail',
    title: 'edge ends TLS itself',
    meaning: 'The edge answers for the host with a certificate that is of no tenant.',
    action:
      'if this is the own certificate of the tenant of {host}, give its CA by --ca; else switch TLS passthrough on at the edge for {host}; some edges answer so for a host without a route, so see that its route was admitted too',
  },
  PassthroughUnknownAuthority: {
    check: 'passthrough',
    state: 'Fail',
    title: 'API server of an unknown CA',
    meaning:
      'An API server answers for the host, but its certificate is of no CA given: a CA was left out, or the route leads to another control plane.',
    action:
      'if this is the own certificate of the tenant of {host}, give its CA by --ca; else see where the route of {host} leads',
  },
  PassthroughOtherHost: {
    check: 'passthrough',
    state: 'Fail',
    title: 'leads to another host',
    meaning: 'Clients of one host reach what is behind another, which refuses them.',
    action: 'look for a second route that claims {host}, and remove it',
  },
  PassthroughNameMissing: {
    check: 'passthrough',
    state: 'Fail',
    title: 'certificate lacks the host',
    meaning: 'TLS ends at a tenant whose certificate does not have the name of the host.',
    action: 'add {host} to the alternative names of the certificate behind the edge',
  },
  PassthroughRefused: {
    check: 'passthrough',
    state: 'Fail',
    title: 'no way to the host',
    meaning: 'The edge has no route for the host, or nothing answers behind it.',
    action: 'see that the route of {host} was admitted by the edge, and that its server runs',
  },
  PassthroughNotTls: {
    check: 'passthrough',
    state: 'Fail',
    title: 'no TLS',
    meaning: 'What answers for the host does not speak TLS.',
    action: 'see that this is the TLS port of the edge, and that the route of {host} was admitted',
  },
  PassthroughTimeout: {
    check: 'passthrough',
    state: 'Fail',
    title: 'handshake is not answered',
    meaning: 'The edge accepts the connection, but nobody completes the TLS handshake.',
    action: 'see that the edge reaches the server of {host}, or give more time by --timeout',
  },

  CertificatesDiffer: {
    check: 'own-certificates',
    state: 'Pass',
    title: 'each host has its own',
    meaning:
      'No two hosts are answered with one certificate, but for hosts of the same tenant: that is of a CA given.',
  },
  CertificateShared: {
    check: 'own-certificates',
    state: 'Warn',
    title: 'hosts share a certificate',
    meaning:
      'Several hosts are answered with one certificate: they are of the same tenant, or the edge ends TLS itself.',
    action:
      'give the CA of each tenant by --ca; if {hosts} are not of one tenant, switch TLS passthrough on',
  },

  KeySame: {
    check: 'same-key',
    state: 'Pass',
    title: 'the same key each time',
    meaning: 'Connections for a host meet one and the same server key.',
  },
  KeyChanges: {
    check: 'same-key',
    state: 'Warn',
    title: 'the key changes',
    meaning:
      'Connections for a host meet different keys: several servers with a key each, or two routes for one host.',
    action: 'if {host} has one server, look for a second route that claims it',
  },
} as const satisfies Record<string, EdgeCodeEntry>;
