/**
 * Dedupes results: what both a hop and a finding report is reported by the hop. Pure.
 */
import type { FindingCode } from '../../api/finding-codes/catalog.ts';
import type { Finding } from '../../api/finding.ts';
import type { HopName } from '../../probe/codes.ts';
import type { HopResult } from '../../probe/hop.ts';

/** The hops and findings of an Exposure. */
export interface ProbeResults {
  readonly hops: readonly HopResult[];
  readonly findings: readonly Finding[];
}

/** A finding that repeats what a failing hop reports. */
interface Duplicate {
  /** The hops that it repeats. */
  readonly hops: readonly HopName[];
  /** The codes of these hops. Default: all. */
  readonly codes?: readonly string[];
  /** Whether the action of the finding is better, because the finding knows the provider. Default false. */
  readonly hasBetterAction?: boolean;
}

const DUPLICATES: Readonly<Partial<Record<FindingCode, Duplicate>>> = {
  TenantUnreachable: { hops: ['edge', 'sni', 'certificate', 'api'] },
  CertificateOutdated: {
    hops: ['certificate', 'konnectivity'],
    codes: ['CertificateNameMissing'],
    hasBetterAction: true,
  },
  KubeconfigOutdated: { hops: ['kubeconfig'], hasBetterAction: true },
};

/** Returns the hops and findings without duplicates. */
export function dedupeResults(
  hops: readonly HopResult[],
  findings: readonly Finding[],
): ProbeResults {
  const actions = new Map<HopResult, string>();
  const others = findings.filter((finding) => {
    const duplicate = DUPLICATES[finding.code];
    const reported = duplicate && hops.find((hop) => isRepeatedBy(duplicate, hop));
    if (reported === undefined) return true;
    if (duplicate?.hasBetterAction === true) actions.set(reported, finding.action);
    return false;
  });
  const better = hops.map((hop) => {
    const action = actions.get(hop);
    return action === undefined ? hop : { ...hop, action };
  });
  return { hops: better, findings: others };
}

function isRepeatedBy({ hops, codes }: Duplicate, { name, state, code }: HopResult): boolean {
  return state === 'Fail' && hops.includes(name) && (codes === undefined || codes.includes(code));
}
