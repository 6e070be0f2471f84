/**
 * What a code of a finding stands for.
 */

/** Its meaning, and the way out; the finding itself has both with the values. */
export interface FindingEntry {
  /** What is the case. No capital letter, no full stop. */
  readonly meaning: string;
  /** What to do. The same. */
  readonly action: string;
}
