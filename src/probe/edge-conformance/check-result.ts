/**
 * What a check of an edge found: data, for a table or a program alike.
 */
import { quoted } from '../../kube/quote.ts';
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

type ActionOf<Code extends EdgeCode> = (typeof EDGE_CODES)[Code] extends {
  readonly action: infer Action;
}
  ? Action
  : '';

type NamesIn<Action> = Action extends `${string}{${infer Name}}${infer Rest}`
  ? Name | NamesIn<Rest>
  : never;

/** What the action of a code leaves open. */
type ActionValues<Code extends EdgeCode> = [NamesIn<ActionOf<Code>>] extends [never]
  ? []
  : [values: Readonly<Record<NamesIn<ActionOf<Code>>, string>>];

/** Names in it are what strangers say. */
const MAX_MESSAGE_LENGTH = 1000;

/** The result that a code stands for; check, state and action are the catalogue's. */
export function checkResult<Code extends EdgeCode>(
  code: Code,
  message: string,
  ...[values]: ActionValues<Code>
): CheckResult {
  const { check, state, action }: EdgeCodeEntry = EDGE_CODES[code];
  const result = { check, state, code, message: quoted(message, MAX_MESSAGE_LENGTH) };
  return action === undefined ? result : { ...result, action: filledIn(action, values) };
}

/** A check that was not made, since no host is reached. */
export function skippedCheck(check: EdgeCheck): CheckResult {
  const message = 'not tried, since check passthrough did not pass';
  return { check, state: 'Skip', code: 'EarlierCheckFailed', message };
}

/** A check that there is nothing for. */
export function nothingToCheck(check: EdgeCheck, message: string): CheckResult {
  return { check, state: 'Skip', code: 'NothingToCheck', message: quoted(message) };
}

function filledIn(action: string, values: Readonly<Record<string, string>> = {}): string {
  return action.replace(/\{(\w+)\}/g, (open, name: string) => quoted(values[name] ?? open));
}
