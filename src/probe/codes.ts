/**
 * The catalog of results by code. Codes are stable: a code is a condition reason, a log field and a metric label.
 *
 * A code has one state, and belongs to one or several hops and checks of an edge. Hop or check and code together identify
 * a result.
 */
import { EDGE_CHECK_CODES } from './codes/edge-check-codes.ts';
import { EDGE_HOP_CODES } from './codes/edge-codes.ts';
import { EVERYWHERE, type CodeEntry, type EdgeCheck, type HopName } from './codes/entry.ts';
import { NODE_HOP_CODES } from './codes/node-codes.ts';
import { TENANT_CODES } from './codes/tenant-codes.ts';
import { WORKER_HOP_CODES } from './codes/worker-codes.ts';

export {
  EDGE_CHECKS,
  EVERYWHERE,
  HOPS,
  NODE_HOPS,
  type CodeEntry,
  type EdgeCheck,
  type HopName,
} from './codes/entry.ts';

const COMMON_CODES = {
  Passed: {
    of: EVERYWHERE,
    state: 'Pass',
    meaning: 'What the hop or check tests works. The message says what was found.',
  },
  PrerequisiteFailed: {
    of: EVERYWHERE,
    state: 'Skip',
    meaning:
      'A hop on which this one depends did not pass, or another hop or check reports the same cause.',
  },
  NotApplicable: {
    of: EVERYWHERE,
    state: 'Skip',
    meaning:
      'The tenant, or the server behind the edge, does not use what this hop, check or condition is about.',
  },
  NotObserved: {
    of: EVERYWHERE,
    state: 'Skip',
    meaning:
      'The hop or condition was not observed yet, or the information for it was not available.',
  },
} as const satisfies Record<string, CodeEntry>;

/** The entries by topic, in the order of the reference documentation. */
export const RESULT_GROUPS = [
  ['All hops and checks', COMMON_CODES],
  ['Path to the edge', EDGE_HOP_CODES],
  ['Path through the edge', TENANT_CODES],
  ['Objects of the tenant', WORKER_HOP_CODES],
  ['One node', NODE_HOP_CODES],
  ['Checks of an edge', EDGE_CHECK_CODES],
] as const;

/** The entries of all results, by code. */
export const RESULT_CODES = {
  ...COMMON_CODES,
  ...EDGE_HOP_CODES,
  ...TENANT_CODES,
  ...WORKER_HOP_CODES,
  ...NODE_HOP_CODES,
  ...EDGE_CHECK_CODES,
} as const;

/** The code of a result. */
export type ResultCode = keyof typeof RESULT_CODES;

/** A code that this hop or check reports. */
export type CodeOf<Reporter extends HopName | EdgeCheck> = {
  [Code in ResultCode]: Reporter extends (typeof RESULT_CODES)[Code]['of'][number] ? Code : never;
}[ResultCode];
