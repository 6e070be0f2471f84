/**
 * The entries of the catalog of codes, and the hops and checks that report them.
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

/** The checks of an edge, in the order of the report. */
export const EDGE_CHECKS = [
  'passthrough',
  'own-certificates',
  'same-key',
  'split-hello',
  'small-records',
  'large-hello',
  'upper-case',
  'tls-1.2',
  'no-name',
  'unknown-name',
  'alpn-h2',
  'client-certificates',
  'half-close',
  'server-close',
  'idle',
  'many-connections',
  'bulk',
  'proxy-header',
] as const;

/** One of {@link EDGE_CHECKS}. */
export type EdgeCheck = (typeof EDGE_CHECKS)[number];

/** Every hop and every check. */
export const EVERYWHERE = [...HOPS, ...NODE_HOPS, ...EDGE_CHECKS] as const;

/** The catalog entry of a code. */
export interface CodeEntry {
  /** The hops and checks that report it. */
  readonly of: readonly (HopName | EdgeCheck)[];
  /** Warn: the path works, but needs attention. The status of an Exposure has it as a Pass with an action. */
  readonly state: 'Pass' | 'Warn' | 'Fail' | 'Skip';
  /** What it means for users of the path. */
  readonly meaning: string;
  /** What to do, with `{names}` for values that only the probe knows. */
  readonly action?: string;
}
