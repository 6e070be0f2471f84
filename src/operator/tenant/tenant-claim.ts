/**
 * Which of two Snickets has a tenant, where two management clusters expose the same one. Neither sees the other; both
 * see whose the proxies are. Whoever had them may be gone for good: so whoever comes takes them, once. Whoever finds
 * them taken away after that knows that the other one is alive, and leaves them to it. So the tenant stays with the one
 * that had it, and the one that came later is told.
 */
import type { ExposureStatus } from '../../api/exposure.ts';
import type { Finding } from '../../api/finding.ts';
import { HOLDER_UID_ANNOTATION } from '../../api/labels.ts';
import type { Clock } from '../../engine/clock.ts';
import { findCondition } from '../../kube/conditions.ts';
import { isNewer, type KubeObject } from '../../kube/object.ts';
import { areTwo, holderOf, proxiesIn, type Holder } from '../../plan/ownership.ts';
import { PROXY } from '../../tenant/proxy-names.ts';
import { quoted } from '../../text/quote.ts';

/** Whoever has had the tenant in peace for so long may take it back once more. */
const PEACE_MS = 600_000;

/** The claim of this operator to one tenant. */
export class TenantClaim {
  readonly #clock: Clock;
  /** That it was taken from another holder: when, and the proxies as they were written then. */
  #taking: { readonly atMs: number; readonly written: KubeObject } | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** To whom the tenant is to be left, if to anybody. `hasYielded`: it was left to another one before. */
  rival(own: Holder, live: readonly KubeObject[], hasYielded: boolean): Holder | undefined {
    const holder = holderOf(live);
    if (holder === undefined || !areTwo(own, holder)) {
      const { atMs = Number.POSITIVE_INFINITY } = this.#taking ?? {};
      if (this.#clock.nowMs() - atMs >= PEACE_MS) this.#taking = undefined;
      return undefined;
    }
    if (this.#taking === undefined) return hasYielded ? holder : undefined;
    const proxies = proxiesIn(live);
    // The watch may still tell of what was there before.
    const isOutdated = proxies !== undefined && isNewer(this.#taking.written, proxies);
    return isOutdated ? undefined : holder;
  }

  /** Something was written to the tenant as it was before; of which this is what is there now. */
  wrote(before: readonly KubeObject[], after: readonly KubeObject[]): void {
    const [former, holder, written] = [holderOf(before), holderOf(after), proxiesIn(after)];
    const isTaking = former && holder && areTwo(former, holder);
    if (isTaking && written) this.#taking ??= { atMs: this.#clock.nowMs(), written };
  }
}

const CODE = 'TenantHeldElsewhere';

/** Whether a tenant was left to another Snicket: an operator that starts anew does not begin anew. */
export function hasYielded(status: ExposureStatus | undefined): boolean {
  return findCondition(status?.conditions, 'TenantReady')?.reason === CODE;
}

/** The holder of another management cluster, if what is in the tenant is its own: for whoever leaves. */
export function rivalOf(
  { metadata: { uid } }: Pick<KubeObject, 'metadata'>,
  live: readonly KubeObject[],
): Holder | undefined {
  const holder = holderOf(live);
  const isAnother = uid !== undefined && holder?.uid !== undefined && holder.uid !== uid;
  return isAnother ? holder : undefined;
}

/** What the one is told who came later. */
export function heldElsewhere(holder: Holder): Finding {
  const { name, namespace } = PROXY;
  return {
    ...{ code: CODE, severity: 'error' },
    message: `the proxies of the tenant are those of ${rivalText(holder)}`,
    action: `delete one of the two Exposures; if the other one is gone, in the tenant: kubectl annotate daemonset ${name} --namespace=${namespace} ${HOLDER_UID_ANNOTATION}-`,
  };
}

/** Its name. Whatever the tenant has written there is not to be believed any further than it can be read. */
export function rivalText({ exposure, uid = '' }: Holder): string {
  return `Exposure ${quoted(exposure, 128)} of another management cluster (uid ${quoted(uid, 36)})`;
}
