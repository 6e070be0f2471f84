/**
 * Which of several Exposures has a tenant. Those of one management cluster know of each other. Those of two do not: all
 * that both see is what is written on the proxies, so they talk there.
 *
 * - Whoever finds the proxies to be another's asks for them, and changes nothing else.
 * - Whoever has them and is asked says no.
 * - Whoever is not answered takes them: the other one is gone. It writes its name on them first, and all else as the one that
 *   has them.
 * - Whoever is refused leaves them alone.
 *
 * So a tenant stays with the one that looks after it, and a newcomer that is refused has cost no proxy a restart.
 */
import type { Finding } from '../../api/finding.ts';
import {
  ASKED_BY_ANNOTATION,
  HOLDER_ANNOTATION,
  HOLDER_UID_ANNOTATION,
  REFUSED_ANNOTATION,
} from '../../api/labels.ts';
import type { KubeObject } from '../../kube/object.ts';
import { holderNamedOn, isSameHolder, type Holder } from '../../plan/ownership.ts';
import { PROXY } from '../../tenant/proxy-names.ts';
import { quoted } from '../../text/quote.ts';

/** How long a question waits for its answer: longer than an operator takes to start, with a thousand tenants. */
export const ASK_MS = 120_000;

/** The tenant can write there what it likes. */
const MOST_REFUSED = 8;
const UID = /^[\w-]{1,64}$/;
const QUESTION = /^([\w-]{1,64}) (\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)$/;

/** Annotations to write on the proxies; null takes one off. */
export type Notes = Readonly<Record<string, string | null>>;

/** What an Exposure may do with a tenant. */
export type Claim =
  /** Have it. `notes`: its answer to whoever asks. */
  | { readonly kind: 'has'; readonly notes?: Notes | undefined }
  /** Write this on the proxies, and look again. */
  | { readonly kind: 'asks' | 'takes'; readonly rival: Holder; readonly notes: Notes }
  /** Wait until then: somebody has asked, itself or a third. */
  | { readonly kind: 'waits'; readonly rival: Holder; readonly endMs: number }
  /** Leave it alone. */
  | { readonly kind: 'yields'; readonly rival: Holder; readonly isHere: boolean };

/** What is known besides. */
export interface ClaimFacts {
  /** Whether there is such an Exposure in this management cluster. */
  readonly isHere: (holder: Holder) => boolean;
  /** By the clock on the wall. */
  readonly nowMs: number;
  /** Default {@link ASK_MS}. */
  readonly askMs?: number | undefined;
}

/** The claim of an Exposure to a tenant with these proxies. */
export function claimOf(
  own: Holder,
  proxies: KubeObject | undefined,
  { isHere, nowMs, askMs = ASK_MS }: ClaimFacts,
): Claim {
  const holder = holderNamedOn(proxies);
  if (holder === undefined || isSameHolder(own, holder)) {
    return { kind: 'has', notes: answerOf(own, proxies) };
  }
  if (isHere(holder)) return { kind: 'yields', rival: holder, isHere: true };
  // Nobody can tell whose they are.
  if (own.uid === undefined || holder.uid === undefined) return { kind: 'has' };
  if (refusedOn(proxies).includes(own.uid)) return { kind: 'yields', rival: holder, isHere: false };
  const question = questionOn(proxies);
  const askedMs = question === undefined ? Number.NaN : nowMs - question.sinceMs;
  const isOwn = question?.uid === own.uid;
  // A third one that asks and does not come back has twice the time. What was asked tomorrow was not.
  const patienceMs = isOwn ? askMs : 2 * askMs;
  if (question !== undefined && askedMs >= 0 && askedMs < patienceMs) {
    return { kind: 'waits', rival: holder, endMs: question.sinceMs + patienceMs };
  }
  if (isOwn && askedMs >= 0) {
    const name = { [HOLDER_ANNOTATION]: own.exposure, [HOLDER_UID_ANNOTATION]: own.uid };
    return { kind: 'takes', rival: holder, notes: { ...name, [ASKED_BY_ANNOTATION]: null } };
  }
  const asked = `${own.uid} ${new Date(nowMs).toISOString()}`;
  return { kind: 'asks', rival: holder, notes: { [ASKED_BY_ANNOTATION]: asked } };
}

/** What the one that has the proxies says to whoever asks for them; nothing if nobody does. */
function answerOf(own: Holder, proxies: KubeObject | undefined): Notes | undefined {
  const question = questionOn(proxies);
  if (question === undefined) return undefined;
  const refused = refusedOn(proxies).filter((uid) => uid !== question.uid);
  if (question.uid === own.uid) return { [ASKED_BY_ANNOTATION]: null };
  const all = [...refused, question.uid].slice(-MOST_REFUSED);
  return { [ASKED_BY_ANNOTATION]: null, [REFUSED_ANNOTATION]: all.join(',') };
}

/** Who asks for the proxies, and since when. */
function questionOn(
  proxies: KubeObject | undefined,
): { readonly uid: string; readonly sinceMs: number } | undefined {
  const [, uid = '', since = ''] =
    QUESTION.exec(proxies?.metadata.annotations?.[ASKED_BY_ANNOTATION] ?? '') ?? [];
  const sinceMs = Date.parse(since);
  return Number.isNaN(sinceMs) ? undefined : { uid, sinceMs };
}

/** Who has asked in vain. */
function refusedOn(proxies: KubeObject | undefined): readonly string[] {
  const refused = proxies?.metadata.annotations?.[REFUSED_ANNOTATION] ?? '';
  return refused
    .slice(0, 1024)
    .split(',')
    .filter((uid) => UID.test(uid))
    .slice(-MOST_REFUSED);
}

/** Who has what is in the tenant, if not this Exposure, which leaves. */
export function otherHolder(
  own: Holder,
  proxies: KubeObject | undefined,
  isHere: (holder: Holder) => boolean,
): Holder | undefined {
  const holder = holderNamedOn(proxies);
  if (holder === undefined || isSameHolder(own, holder)) return undefined;
  const areKnown = own.uid !== undefined && holder.uid !== undefined;
  return areKnown || isHere(holder) ? holder : undefined;
}

/** What the one is told who does not have the tenant; nothing if it does. */
export function claimFinding(claim: Claim): Finding | undefined {
  const proxies = 'the proxies of the tenant are those of';
  switch (claim.kind) {
    case 'has':
      return undefined;
    case 'asks':
    case 'takes':
    case 'waits':
      return {
        ...{ code: 'TenantAskedFor', severity: 'error' },
        message: `${proxies} ${rivalText(claim.rival)}, which is asked for them${untilText(claim)}`,
        action: 'wait: whoever does not answer loses them',
      };
    case 'yields': {
      if (claim.isHere) {
        return {
          ...{ code: 'TenantTaken', severity: 'error' },
          message: `${proxies} Exposure ${claim.rival.exposure}, for the same control plane`,
          action: 'delete one of the two Exposures',
        };
      }
      const { name, namespace } = PROXY;
      return {
        ...{ code: 'TenantHeldElsewhere', severity: 'error' },
        message: `${proxies} ${rivalText(claim.rival)}, which has refused to give them up`,
        action: `delete one of the two Exposures; if the other one is gone since, in the tenant: kubectl annotate daemonset ${name} --namespace=${namespace} ${REFUSED_ANNOTATION}-`,
      };
    }
  }
}

function untilText(claim: Claim): string {
  if (claim.kind !== 'waits') return '';
  return ` and has until ${new Date(claim.endMs).toISOString().slice(0, 19)}Z to answer`;
}

/** The name of one elsewhere. What a tenant has written there is no longer than a name is. */
export function rivalText({ exposure, uid = '' }: Holder): string {
  return `Exposure ${quoted(exposure, 128)} with uid ${quoted(uid, 64)}, of another management cluster or gone from this one`;
}
