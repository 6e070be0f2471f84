/**
 * The catalog of finding codes. A code is stable: it is the reason of a condition, a log field and a metric label. Code
 * that uses a code outside of the catalog does not compile.
 */
import { CERTIFICATE_FINDINGS } from './certificate.ts';
import { CONTROL_PLANE_FINDINGS } from './control-plane.ts';
import { DNS_FINDINGS } from './dns.ts';
import { EDGE_FINDINGS } from './edge.ts';
import { PREFLIGHT_FINDINGS } from './preflight.ts';
import { PREPARATION_FINDINGS } from './preparation.ts';
import { TENANT_FINDINGS } from './tenant.ts';
import { EXPOSURE_FINDINGS } from './exposure.ts';

/** The entries of all findings, by code. */
export const FINDING_CODES = {
  ...EXPOSURE_FINDINGS,
  ...CONTROL_PLANE_FINDINGS,
  ...PREPARATION_FINDINGS,
  ...TENANT_FINDINGS,
  ...CERTIFICATE_FINDINGS,
  ...EDGE_FINDINGS,
  ...DNS_FINDINGS,
  ...PREFLIGHT_FINDINGS,
};

/** The code of a finding. */
export type FindingCode = keyof typeof FINDING_CODES;

/** The entries by topic, in the order of the reference documentation. */
export const FINDING_GROUPS = [
  ['Edges and Exposures', EXPOSURE_FINDINGS],
  ['The control plane', CONTROL_PLANE_FINDINGS],
  ['Preparation of the control plane', PREPARATION_FINDINGS],
  ["The tenant's API, and the management cluster", TENANT_FINDINGS],
  ["The tenant's CA", CERTIFICATE_FINDINGS],
  ['Edges', EDGE_FINDINGS],
  ['`snicket dns`', DNS_FINDINGS],
  ['`snicket doctor --pre`', PREFLIGHT_FINDINGS],
] as const;
