/**
 * Results of hops, for statuses, tables and metrics.
 */
import type { FindingMessage } from '../api/finding.ts';
import type { HopState } from '../api/exposure-status.ts';
import type { CodeOf, HopName, RESULT_CODES, ResultCode } from './codes.ts';
import { resultOf, type ActionValues } from './result.ts';

/** The result of one hop. */
export interface HopResult extends FindingMessage {
  readonly name: HopName;
  /** What was checked: `a.k8s.example.com:443`. */
  readonly target: string;
  /** Skip: not checked, because an earlier hop failed or because it does not apply. */
  readonly state: HopState;
  readonly code: ResultCode;
  /** A Pass with an action is a warning. */
  readonly action?: string;
}

/** Returns the result for a code. Its state and action come from the catalog. */
export function hopResult<Name extends HopName, Code extends CodeOf<Name>>(
  name: Name,
  code: Code,
  target: string,
  message: string,
  ...[values]: ActionValues<(typeof RESULT_CODES)[Code]>
): HopResult {
  const { state, ...result } = resultOf(code, message, values);
  return { name, target, state: state === 'Warn' ? 'Pass' : state, ...result };
}

/** Returns the result of a hop that was skipped because an earlier one did not pass. */
export function skippedAfter(name: HopName, target: string, earlier: HopName): HopResult {
  const message = `Skipped because hop ${earlier} did not pass.`;
  return hopResult(name, 'PrerequisiteFailed', target, message);
}

/**
 * Returns a skip for a hop that failed for a cause that another hop or check reports, so that one cause has one code.
 * `reporter` names it: `hop sni`.
 */
export function skippedForSameCause(failed: HopResult, reporter: string): HopResult {
  const { name, target } = failed;
  const message = `Failed, most likely for the same reason as ${reporter}: ${failed.message}`;
  return hopResult(name, 'PrerequisiteFailed', target, message);
}

/** Returns the result of a hop that does not apply. */
export function notApplicable(name: HopName, target: string, message: string): HopResult {
  return hopResult(name, 'NotApplicable', target, message);
}

/** Returns the result of a hop that could not be observed. */
export function notObserved(name: HopName, target: string, message: string): HopResult {
  return hopResult(name, 'NotObserved', target, message);
}
