/**
 * The catalog of edge check results by code. Codes are stable, and belong to one check and one state.
 *
 * Fail: a client that follows the standards is not served, or is misrouted. Warn: it works, but needs attention.
 */
import { CERTIFICATE_CODES } from './codes/certificates.ts';
import { CONNECTION_CODES } from './codes/connections.ts';
import { HELLO_CODES } from './codes/hellos.ts';
import { NAME_CODES } from './codes/names.ts';

export { EDGE_CHECKS, type EdgeCheck, type EdgeCodeEntry } from './codes/entry.ts';

/** The codes of completed checks, in the order of the checks. */
export const EDGE_CODES = {
  ...CERTIFICATE_CODES,
  ...HELLO_CODES,
  ...NAME_CODES,
  ...CONNECTION_CODES,
} as const;

/** A code of a completed check. */
export type EdgeCode = keyof typeof EDGE_CODES;

/** Why a check was skipped. */
export const EDGE_SKIP_CODES = {
  EarlierCheckFailed: {
    title: 'another check failed',
    meaning: 'No host is reached through the edge, for a reason that another check reports.',
  },
  NothingToCheck: {
    title: 'nothing to check',
    meaning: 'The servers behind the edge do not use what this check is about.',
  },
} as const satisfies Record<string, { readonly title: string; readonly meaning: string }>;

/** A code of a skipped check. */
export type EdgeSkipCode = keyof typeof EDGE_SKIP_CODES;
