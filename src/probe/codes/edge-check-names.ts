import type { CodeEntry } from './entry.ts';

/** Codes for ClientHellos without the name of a host. */
export const NAME_CODES = {
  NoNameOwnCertificate: {
    of: ['no-name'],
    state: 'Warn',
    meaning: 'The edge itself answers a client without a server name, which reaches no tenant.',
    action:
      'If nothing else is served on this port, configure the edge to reject such clients, so that the error is clear.',
  },
  NoNameNotTls: {
    of: ['no-name'],
    state: 'Warn',
    meaning:
      'A client without a server name gets bytes that are not TLS, and reports a misleading error.',
    action:
      'Configure the edge to close the connection, or to answer with the TLS alert unrecognized_name.',
  },
  NoNameUnanswered: {
    of: ['no-name'],
    state: 'Warn',
    meaning: 'A client without a server name gets no answer and occupies a connection of the edge.',
    action:
      'Configure the edge to close the connection, or to answer with the TLS alert unrecognized_name.',
  },
  NoNameReachesTenant: {
    of: ['no-name'],
    state: 'Fail',
    meaning: 'Clients without a server name, such as Internet scanners, reach a tenant.',
    action: 'Remove the default route of the edge.',
  },

  UnknownNameOwnCertificate: {
    of: ['unknown-name'],
    state: 'Warn',
    meaning: 'The edge itself answers a client with an unknown server name.',
    action:
      'If nothing else is served on this port, configure the edge to reject such clients, so that the error is clear.',
  },
  UnknownNameNotTls: {
    of: ['unknown-name'],
    state: 'Warn',
    meaning: 'A client with an unknown server name gets bytes that are not TLS.',
    action:
      'Configure the edge to close the connection, or to answer with the TLS alert unrecognized_name.',
  },
  UnknownNameUnanswered: {
    of: ['unknown-name'],
    state: 'Warn',
    meaning: 'A client with an unknown server name gets no answer and occupies a connection.',
    action:
      'Configure the edge to close the connection, or to answer with the TLS alert unrecognized_name.',
  },
  UnknownNameReachesTenant: {
    of: ['unknown-name'],
    state: 'Fail',
    meaning:
      'A host without a route reaches a tenant, so clients of a deleted tenant reach another one.',
    action: 'Remove the default route or the wildcard that matches {host}.',
  },
} as const satisfies Record<string, CodeEntry>;
