/**
 * The entries of the catalog of codes.
 */

/** The checks, in the order of the report. */
export const EDGE_CHECKS = [
  'passthrough',
  'own-certificates',
  'same-key',
  'split-hello',
  'small-records',
  'large-hello',
  'upper-case',
  'tls-1.2',
  'no-name',
  'unknown-name',
  'alpn-h2',
  'client-certificates',
  'half-close',
  'server-close',
  'idle',
  'many-connections',
  'bulk',
  'proxy-header',
] as const;
/** One of {@link EDGE_CHECKS}. */
export type EdgeCheck = (typeof EDGE_CHECKS)[number];

/** The catalog entry of a code. */
export interface EdgeCodeEntry {
  readonly check: EdgeCheck;
  readonly state: 'Pass' | 'Warn' | 'Fail';
  /** A few words for a table. */
  readonly title: string;
  /** What it means for users of the edge. */
  readonly meaning: string;
  /** What to do, with `{names}` for values that only the check knows. No period at the end. */
  readonly action?: string;
}
