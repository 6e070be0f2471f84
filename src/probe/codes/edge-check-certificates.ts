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
