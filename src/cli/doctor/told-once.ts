/**
 * One cause, one code: what a hop and a finding both tell is told by the hop. Pure.
 */
import type { FindingCode } from '../../api/finding-codes/catalogue.ts';
import type { Finding } from '../../api/finding.ts';
import type { HopName } from '../../probe/codes.ts';
import type { HopResult } from '../../probe/hop.ts';

/** What was found. */
export interface Told {
  readonly hops: readonly HopResult[];
  readonly findings: readonly Finding[];
}

/** Findings that say what a hop that fails says too. */
interface Echo {
  /** Of one of these. */
  readonly hops: readonly HopName[];
  /** Default: whatever the code of the hop. */
  readonly codes?: readonly string[];
  /** The finding knows the provider, and so the command that helps. Default false. */
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

/** The same, without what would be told twice. */
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
