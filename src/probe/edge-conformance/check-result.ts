/**
 * Results of edge checks, for tables and programs.
 */
import type { FindingMessage } from '../../api/finding.ts';
import { resultOf, type ActionValues } from '../result.ts';
import type { CodeEntry, CodeOf, EdgeCheck, RESULT_CODES, ResultCode } from '../codes.ts';

/** The result of one check. */
export interface CheckResult extends FindingMessage {
  readonly check: EdgeCheck;
  /** Skip: not run, because an earlier check failed or because it does not apply. */
  readonly state: CodeEntry['state'];
  readonly code: ResultCode;
}

/** Returns the result for a code. Its state and action come from the catalog. */
export function checkResult<Check extends EdgeCheck, Code extends CodeOf<Check>>(
  check: Check,
  code: Code,
  message: string,
  ...[values]: ActionValues<(typeof RESULT_CODES)[Code]>
): CheckResult {
  return { check, ...resultOf(code, message, values) };
}

/** Returns the result of a check that was skipped because no host is reached. `cause` is the check that reports why. */
export function skippedCheck(check: EdgeCheck, cause: EdgeCheck): CheckResult {
  return checkResult(check, 'PrerequisiteFailed', `Skipped because check ${cause} did not pass.`);
}

/** Returns the result of a check that does not apply. */
export function notApplicable(check: EdgeCheck, message: string): CheckResult {
  return checkResult(check, 'NotApplicable', message);
}
