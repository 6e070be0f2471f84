/**
 * The catalog of hop results by code. Codes are stable: a code is a condition reason, a log field and a metric label.
 *
 * A code belongs to one hop and one state. A Pass with an action is a warning: the path works, but needs attention.
 */
import { EDGE_HOP_CODES } from './codes/edge-codes.ts';
import { KONNECTIVITY_HOP_CODES } from './codes/konnectivity-codes.ts';
import { NODE_HOP_CODES } from './codes/node-codes.ts';
import { TENANT_HOP_CODES } from './codes/tenant-codes.ts';
import { WORKER_HOP_CODES } from './codes/worker-codes.ts';

export { HOPS, NODE_HOPS, type CodeEntry, type HopName } from './codes/entry.ts';

/** The codes of checked hops, in the order of the path. */
export const HOP_CODES = {
  ...EDGE_HOP_CODES,
  ...TENANT_HOP_CODES,
  ...KONNECTIVITY_HOP_CODES,
  ...WORKER_HOP_CODES,
  ...NODE_HOP_CODES,
} as const;

/** A code of a checked hop. */
export type HopCode = keyof typeof HOP_CODES;

/** The codes of hops that pass at some addresses of the edge and fail at others. */
export const DEGRADED_CODES: ReadonlySet<string> = new Set<HopCode>([
  'EdgeDegraded',
  'SniDegraded',
  'KonnectivityDegraded',
]);

/** The codes of hops with a certificate that expires within days. */
export const EXPIRING_CODES: ReadonlySet<string> = new Set<HopCode>([
  'CertificateExpiresSoon',
  'KonnectivityExpiresSoon',
]);

/** Why a hop was skipped. */
export const SKIP_CODES = {
  PrerequisiteFailed: {
    title: 'an earlier hop failed',
    meaning: 'A hop on which this one depends did not pass.',
  },
  NotApplicable: {
    title: 'not applicable',
    meaning: 'The tenant does not use what this hop checks.',
  },
  NotObserved: {
    title: 'not checked',
    meaning: 'The information for this hop was not available.',
  },
} as const satisfies Record<string, { readonly title: string; readonly meaning: string }>;

/** A code of a skipped hop. */
export type SkipCode = keyof typeof SKIP_CODES;
