/**
 * What a check of an edge found: data, for a table or a program alike.
 */
import { quoted } from '../../text/quote.ts';
import { filledIn, MAX_MESSAGE_LENGTH, type ActionValues } from '../action.ts';
import {
  EDGE_CODES,
  type EdgeCheck,
  type EdgeCode,
  type EdgeCodeEntry,
  type EdgeSkipCode,
} from './codes.ts';

/** The result of one check. */
export interface CheckResult {
  readonly check: EdgeCheck;
  /** Skip: not made, because an earlier check failed or because it does not apply. */
  readonly state: EdgeCodeEntry['state'] | 'Skip';
  readonly code: EdgeCode | EdgeSkipCode;
  /** What is the case, with the offending value. No full stop. */
  readonly message: string;
  /** What to do. No full stop. */
  readonly action?: string;
}

/** The result that a code stands for; check, state and action are the catalogue's. */
export function checkResult<Code extends EdgeCode>(
  code: Code,
  message: string,
  ...[values]: ActionValues<(typeof EDGE_CODES)[Code]>
): CheckResult {
  const { check, state, action }: EdgeCodeEntry = EDGE_CODES[code];
  const result = { check, state, code, message: quoted(message, MAX_MESSAGE_LENGTH) };
  return action === undefined ? result : { ...result, action: filledIn(action, values) };
}

/** A check that says nothing, since no host is reached: `cause` is the one that tells why. */
export function skippedCheck(check: EdgeCheck, cause: EdgeCheck): CheckResult {
  const message = `not looked at, since check ${cause} did not pass`;
  return { check, state: 'Skip', code: 'EarlierCheckFailed', message };
}

/** A check that there is nothing for. */
export function nothingToCheck(check: EdgeCheck, message: string): CheckResult {
  return { check, state: 'Skip', code: 'NothingToCheck', message: quoted(message) };
}
