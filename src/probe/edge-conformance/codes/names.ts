import type { EdgeCodeEntry } from './entry.ts';

/** Codes for ClientHellos without the name of a host. */
export const NAME_CODES = {
  NoNameRefused: {
    check: 'no-name',
    state: 'Pass',
    title: 'no name is rejected',
    meaning: 'A client without a server name is rejected and reaches no tenant.',
  },
  NoNameOwnCertificate: {
    check: 'no-name',
    state: 'Warn',
    title: 'no name gets a certificate of the edge',
    meaning: 'The edge itself answers a client without a server name, which reaches no tenant.',
    action:
      'If nothing else is served on this port, configure the edge to reject such clients, so that the error is clear.',
  },
  NoNameNotTls: {
    check: 'no-name',
    state: 'Warn',
    title: 'no name is not answered in TLS',
    meaning:
      'A client without a server name gets bytes that are not TLS, and reports a misleading error.',
    action:
      'Configure the edge to close the connection, or to answer with the TLS alert unrecognized_name.',
  },
  NoNameUnanswered: {
    check: 'no-name',
    state: 'Warn',
    title: 'no name is not answered',
    meaning: 'A client without a server name gets no answer and occupies a connection of the edge.',
    action:
      'Configure the edge to close the connection, or to answer with the TLS alert unrecognized_name.',
  },
  NoNameReachesTenant: {
    check: 'no-name',
    state: 'Fail',
    title: 'no name reaches a tenant',
    meaning: 'Clients without a server name, such as Internet scanners, reach a tenant.',
    action: 'Remove the default route of the edge.',
  },

  UnknownNameRefused: {
    check: 'unknown-name',
    state: 'Pass',
    title: 'unknown name is rejected',
    meaning: 'A client with an unknown server name is rejected and reaches no tenant.',
  },
  UnknownNameOwnCertificate: {
    check: 'unknown-name',
    state: 'Warn',
    title: 'unknown name gets a certificate of the edge',
    meaning: 'The edge itself answers a client with an unknown server name.',
    action:
      'If nothing else is served on this port, configure the edge to reject such clients, so that the error is clear.',
  },
  UnknownNameNotTls: {
    check: 'unknown-name',
    state: 'Warn',
    title: 'unknown name is not answered in TLS',
    meaning: 'A client with an unknown server name gets bytes that are not TLS.',
    action:
      'Configure the edge to close the connection, or to answer with the TLS alert unrecognized_name.',
  },
  UnknownNameUnanswered: {
    check: 'unknown-name',
    state: 'Warn',
    title: 'unknown name is not answered',
    meaning: 'A client with an unknown server name gets no answer and occupies a connection.',
    action:
      'Configure the edge to close the connection, or to answer with the TLS alert unrecognized_name.',
  },
  UnknownNameReachesTenant: {
    check: 'unknown-name',
    state: 'Fail',
    title: 'unknown name reaches a tenant',
    meaning:
      'A host without a route reaches a tenant, so clients of a deleted tenant reach another one.',
    action: 'Remove the default route or the wildcard that matches {host}.',
  },
} as const satisfies Record<string, EdgeCodeEntry>;
