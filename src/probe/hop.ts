/**
 * What a probe found at one hop: data, for a status, a table or a metric alike.
 */
import type { HopState } from '../api/exposure-status.ts';
import { quoted } from '../text/quote.ts';
import { filledIn, MAX_MESSAGE_LENGTH, type ActionValues } from './action.ts';
import { HOP_CODES, type CodeEntry, type HopCode, type HopName, type SkipCode } from './codes.ts';

/** The result of one hop. */
export interface HopResult {
  readonly name: HopName;
  /** What was looked at: `a.k8s.example.com:443`. */
  readonly target: string;
  /** Skip: not tried, because an earlier hop failed or because it does not apply. */
  readonly state: HopState;
  readonly code: HopCode | SkipCode;
  /** What is the case, with the offending value. No full stop. */
  readonly message: string;
  /** What to do. A Pass that has one is a warning. No full stop. */
  readonly action?: string;
}

/** The result that a code stands for; hop, state and action are the catalogue's. */
export function hopResult<Code extends HopCode>(
  code: Code,
  target: string,
  message: string,
  ...[values]: ActionValues<(typeof HOP_CODES)[Code]>
): HopResult {
  const { hop, state, action }: CodeEntry = HOP_CODES[code];
  const result = { name: hop, target, state, code, message: quoted(message, MAX_MESSAGE_LENGTH) };
  return action === undefined ? result : { ...result, action: filledIn(action, values) };
}

/** A hop that was not tried, since this one before it did not pass. */
export function skippedAfter(name: HopName, target: string, earlier: HopName): HopResult {
  const message = `not tried, since hop ${earlier} did not pass`;
  return { name, target, state: 'Skip', code: 'EarlierHopFailed', message };
}

/** A hop that fails for a cause that is told already, by `hop sni` or so: two codes for one would be one too many. */
export function skippedForSameCause(failed: HopResult, teller: string): HopResult {
  const { name, target } = failed;
  const message = `does not pass, most likely for the cause that ${teller} tells: ${failed.message}`;
  return { name, target, state: 'Skip', code: 'EarlierHopFailed', message };
}

/** A hop that there is nothing to try at. */
export function notApplicable(name: HopName, target: string, message: string): HopResult {
  return { name, target, state: 'Skip', code: 'NotApplicable', message };
}

/** A hop whose facts could not be had. */
export function notLookedAt(name: HopName, target: string, message: string): HopResult {
  return { name, target, state: 'Skip', code: 'NotLookedAt', message };
}
