/**
 * Results of edge checks, for tables and programs.
 */
import type { FindingMessage } from '../../api/finding.ts';
import { quoted } from '../../text/quote.ts';
import { filledAction, MAX_MESSAGE_LENGTH, type ActionValues } from '../action.ts';
import {
  EDGE_CODES,
  type EdgeCheck,
  type EdgeCode,
  type EdgeCodeEntry,
  type EdgeSkipCode,
} from './codes.ts';

/** The result of one check. */
export interface CheckResult extends FindingMessage {
  readonly check: EdgeCheck;
  /** Skip: not run, because an earlier check failed or because it does not apply. */
  readonly state: EdgeCodeEntry['state'] | 'Skip';
  readonly code: EdgeCode | EdgeSkipCode;
}

/** Returns the result for a code. Its check, state and action come from the catalog. */
export function checkResult<Code extends EdgeCode>(
  code: Code,
  message: string,
  ...[values]: ActionValues<(typeof EDGE_CODES)[Code]>
): CheckResult {
  const { check, state, action }: EdgeCodeEntry = EDGE_CODES[code];
  const result = { check, state, code, message: quoted(message, MAX_MESSAGE_LENGTH) };
  return action === undefined ? result : { ...result, action: filledAction(action, values) };
}

/** Returns the result of a check that was skipped because no host is reached. `cause` is the check that reports why. */
export function skippedCheck(check: EdgeCheck, cause: EdgeCheck): CheckResult {
  const message = `Skipped because check ${cause} did not pass.`;
  return { check, state: 'Skip', code: 'EarlierCheckFailed', message };
}

/** Returns the result of a check that does not apply. */
export function nothingToCheck(check: EdgeCheck, message: string): CheckResult {
  return { check, state: 'Skip', code: 'NothingToCheck', message: quoted(message) };
}
