/**
 * The documentation of a finding code.
 */

/** The meaning of a code, and the fix. The message and action of a finding have the actual values. */
export interface FindingEntry {
  /** What the code means, as a sentence with a full stop. */
  readonly meaning: string;
  /** What to do, as a sentence with a full stop. */
  readonly action: string;
}
