/**
 * Results of hops, for statuses, tables and metrics.
 */
import type { FindingMessage } from '../api/finding.ts';
import type { HopState } from '../api/exposure-status.ts';
import { quoted } from '../text/quote.ts';
import { filledAction, MAX_MESSAGE_LENGTH, type ActionValues } from './action.ts';
import { HOP_CODES, type CodeEntry, type HopCode, type HopName, type SkipCode } from './codes.ts';

/** The result of one hop. */
export interface HopResult extends FindingMessage {
  readonly name: HopName;
  /** What was checked: `a.k8s.example.com:443`. */
  readonly target: string;
  /** Skip: not checked, because an earlier hop failed or because it does not apply. */
  readonly state: HopState;
  readonly code: HopCode | SkipCode;
  /** A Pass with an action is a warning. */
  readonly action?: string;
}

/** Returns the result for a code. Its hop, state and action come from the catalog. */
export function hopResult<Code extends HopCode>(
  code: Code,
  target: string,
  message: string,
  ...[values]: ActionValues<(typeof HOP_CODES)[Code]>
): HopResult {
  const { hop, state, action }: CodeEntry = HOP_CODES[code];
  const result = { name: hop, target, state, code, message: quoted(message, MAX_MESSAGE_LENGTH) };
  return action === undefined ? result : { ...result, action: filledAction(action, values) };
}

/** Returns the result of a hop that was skipped because an earlier one did not pass. */
export function skippedAfter(name: HopName, target: string, earlier: HopName): HopResult {
  const message = `Skipped because hop ${earlier} did not pass.`;
  return { name, target, state: 'Skip', code: 'PrerequisiteFailed', message };
}

/**
 * Returns a skip for a hop that failed for a cause that another hop or check reports, so that one cause has one code.
 * `teller` names it: `hop sni`.
 */
export function skippedForSameCause(failed: HopResult, reporter: string): HopResult {
  const { name, target } = failed;
  const message = `Failed, most likely for the same reason as ${reporter}: ${failed.message}`;
  return { name, target, state: 'Skip', code: 'PrerequisiteFailed', message };
}

/** Returns the result of a hop that does not apply. */
export function notApplicable(name: HopName, target: string, message: string): HopResult {
  return { name, target, state: 'Skip', code: 'NotApplicable', message };
}

/** Returns the result of a hop that could not be observed. */
export function notObserved(name: HopName, target: string, message: string): HopResult {
  return { name, target, state: 'Skip', code: 'NotObserved', message };
}
