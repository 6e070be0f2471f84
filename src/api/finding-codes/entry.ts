/**
 * The documentation of a finding code.
 */

/** The meaning of a code and the fix. A finding has both with the actual values. */
export interface FindingEntry {
  /** What the code means, without a capital letter and a full stop. */
  readonly meaning: string;
  /** What to do, in the same form. */
  readonly action: string;
}
