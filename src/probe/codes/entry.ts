/**
 * What the catalogue of codes is made of.
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

/** The hops of one node, which only somebody on it can try: from its pods to the proxy. No status has them. */
export const NODE_HOPS = ['node-address', 'node-proxy', 'node-service'] as const;

/** One of {@link HOPS} or {@link NODE_HOPS}. */
export type HopName = (typeof HOPS | typeof NODE_HOPS)[number];

/** What a code stands for. */
export interface CodeEntry {
  readonly hop: HopName;
  readonly state: 'Pass' | 'Fail';
  /** A few words for a table. */
  readonly title: string;
  /** What it means for whoever uses the path. */
  readonly meaning: string;
  /** The way out, with `{names}` for what only the probe knows. No full stop. */
  readonly action?: string;
}
