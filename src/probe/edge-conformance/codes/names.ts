import type { EdgeCodeEntry } from './entry.ts';

/** Codes for ClientHellos without the name of a host. */
export const NAME_CODES = {
  NoNameRefused: {
    check: 'no-name',
    state: 'Pass',
    title: 'no name is refused',
    meaning: 'A client that names no host is refused, and reaches no tenant.',
  },
  NoNameOwnCertificate: {
    check: 'no-name',
    state: 'Warn',
    title: 'no name gets a certificate of the edge',
    meaning: 'A client that names no host is answered by the edge itself, and reaches no tenant.',
    action: 'if nothing else is served at this port, let the edge refuse: the fault is then plain',
  },
  NoNameNotTls: {
    check: 'no-name',
    state: 'Warn',
    title: 'no name is not answered in TLS',
    meaning: 'A client that names no host gets bytes that are no TLS, and reports a strange fault.',
    action: 'let the edge hang up, or answer with the TLS alert unrecognized_name',
  },
  NoNameHeld: {
    check: 'no-name',
    state: 'Warn',
    title: 'no name is held',
    meaning: 'A client that names no host gets no answer and keeps a connection of the edge.',
    action: 'let the edge hang up, or answer with the TLS alert unrecognized_name',
  },
  NoNameLedToTenant: {
    check: 'no-name',
    state: 'Fail',
    title: 'no name leads to a tenant',
    meaning: 'Whoever names no host, scanners of the Internet among them, reaches a tenant.',
    action: 'remove the default route of the edge',
  },

  UnknownNameRefused: {
    check: 'unknown-name',
    state: 'Pass',
    title: 'unknown name is refused',
    meaning: 'A client that names an unknown host is refused, and reaches no tenant.',
  },
  UnknownNameOwnCertificate: {
    check: 'unknown-name',
    state: 'Warn',
    title: 'unknown name gets a certificate of the edge',
    meaning: 'A client that names an unknown host is answered by the edge itself.',
    action: 'if nothing else is served at this port, let the edge refuse: the fault is then plain',
  },
  UnknownNameNotTls: {
    check: 'unknown-name',
    state: 'Warn',
    title: 'unknown name is not answered in TLS',
    meaning: 'A client that names an unknown host gets bytes that are no TLS.',
    action: 'let the edge hang up, or answer with the TLS alert unrecognized_name',
  },
  UnknownNameHeld: {
    check: 'unknown-name',
    state: 'Warn',
    title: 'unknown name is held',
    meaning: 'A client that names an unknown host gets no answer and keeps a connection.',
    action: 'let the edge hang up, or answer with the TLS alert unrecognized_name',
  },
  UnknownNameLedToTenant: {
    check: 'unknown-name',
    state: 'Fail',
    title: 'unknown name leads to a tenant',
    meaning: 'A host that has no route reaches a tenant, so a tenant that is gone is another one.',
    action: 'remove the default route or the wildcard that takes {host}',
  },
} as const satisfies Record<string, EdgeCodeEntry>;
