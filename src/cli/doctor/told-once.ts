/**
 * Dedupes results: what both a hop and a finding report is reported by the hop. Pure.
 */
import type { FindingCode } from '../../api/finding-codes/catalogue.ts';
import type { Finding } from '../../api/finding.ts';
import type { HopName } from '../../probe/codes.ts';
import type { HopResult } from '../../probe/hop.ts';

/** The hops and findings of an Exposure. */
export interface Told {
  readonly hops: readonly HopResult[];
  readonly findings: readonly Finding[];
}

/** A finding that repeats what a failing hop reports. */
interface Echo {
  /** The hops that it repeats. */
  readonly hops: readonly HopName[];
  /** The codes of these hops. Default: all. */
  readonly codes?: readonly string[];
  /** Whether the action of the finding is better, because the finding knows the provider. Default false. */
  readonly knowsBetter?: boolean;
}

const ECHOES: Readonly<Partial<Record<FindingCode, Echo>>> = {
  TenantUnreachable: { hops: ['edge', 'sni', 'certificate', 'api'] },
  CertificateStale: {
    hops: ['certificate', 'konnectivity'],
    codes: ['CertificateNameMissing', 'KonnectivityNameMissing'],
    knowsBetter: true,
  },
  KubeconfigLeadsElsewhere: { hops: ['kubeconfig'], knowsBetter: true },
};

/** Returns the hops and findings without duplicates. */
export function toldOnce(hops: readonly HopResult[], findings: readonly Finding[]): Told {
  const actions = new Map<HopResult, string>();
  const others = findings.filter((finding) => {
    const echo = ECHOES[finding.code];
    const told = echo && hops.find((hop) => isEchoOf(echo, hop));
    if (told === undefined) return true;
    if (echo?.knowsBetter === true) actions.set(told, finding.action);
    return false;
  });
  const better = hops.map((hop) => {
    const action = actions.get(hop);
    return action === undefined ? hop : { ...hop, action };
  });
  return { hops: better, findings: others };
}

function isEchoOf({ hops, codes }: Echo, { name, state, code }: HopResult): boolean {
  return state === 'Fail' && hops.includes(name) && (codes === undefined || codes.includes(code));
}
