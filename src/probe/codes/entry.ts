/**
 * The entries of the catalog of codes.
 */

/** The hops, in the order of the path. */
export const HOPS = [
  'dns',
  'edge',
  'sni',
  'certificate',
  'api',
  'konnectivity',
  'endpoints',
  'proxies',
  'kubeconfig',
] as const;

/** The hops on one node, from its pods to its proxy. They can only be checked on that node, and no status has them. */
export const NODE_HOPS = ['node-address', 'node-proxy', 'node-service'] as const;

/** One of {@link HOPS} or {@link NODE_HOPS}. */
export type HopName = (typeof HOPS | typeof NODE_HOPS)[number];

/** The catalog entry of a code. */
export interface CodeEntry {
  readonly hop: HopName;
  readonly state: 'Pass' | 'Fail';
  /** A few words for a table. */
  readonly title: string;
  /** What it means for users of the path. */
  readonly meaning: string;
  /** What to do, with `{names}` for values that only the probe knows. No period at the end. */
  readonly action?: string;
}
