/**
 * Which of several Exposures has a tenant. Those of one management cluster know of each other. Those of two do not: all
 * that both see is what is written on the proxies, so what has happened is written there.
 *
 * - Whoever finds the proxies to be another's takes them, for that one may be gone for good, and notes from whom.
 * - Whoever finds that they were taken from it takes them back, and notes whom it refuses.
 * - Whoever is refused leaves them alone.
 *
 * So a tenant stays with the one that had it, and the one that came later is told. Whoever was away when they were taken,
 * and for some time after, comes later.
 */
import type { Finding } from '../../api/finding.ts';
import { REFUSED_ANNOTATION, TAKEN_FROM_ANNOTATION } from '../../api/labels.ts';
import type { KubeObject } from '../../kube/object.ts';
import { holderOf, isSameHolder, proxiesIn, type Holder } from '../../plan/ownership.ts';
import { PROXY } from '../../tenant/proxy-names.ts';
import { quoted } from '../../text/quote.ts';

/** Whoever has had the proxies for so long need not give them back to the one before. */
export const PEACE_MS = 600_000;

/** The tenant can write there what it likes. */
const MOST_REFUSED = 8;
const UID = /^[\w-]{1,64}$/;

/** What is noted on the proxies. */
export interface Notes {
  readonly takenFrom: string | undefined;
  readonly refused: readonly string[];
}

/** Whether a tenant may be had, and with which notes on its proxies; else who has it. */
export type Claim =
  | { readonly notes: Notes; readonly rival?: undefined }
  | { readonly rival: Holder; readonly isHere: boolean };

/** What is known besides. */
export interface ClaimFacts {
  /** Whether there is such an Exposure in this management cluster. */
  readonly isHere: (holder: Holder) => boolean;
  /** Whether the proxies have been its own for {@link PEACE_MS}. */
  readonly isInPeace: boolean;
}

/** The claim of an Exposure to a tenant with these objects. */
export function claimOf(
  own: Holder,
  live: readonly KubeObject[],
  { isHere, isInPeace }: ClaimFacts,
): Claim {
  const holder = holderOf(live);
  const notes = notesOn(proxiesIn(live));
  if (holder === undefined || isSameHolder(own, holder)) {
    return { notes: isInPeace ? { ...notes, takenFrom: undefined } : notes };
  }
  if (isHere(holder)) return { rival: holder, isHere: true };
  // Nobody can tell whose they are.
  if (own.uid === undefined || holder.uid === undefined) return { notes };
  if (notes.refused.includes(own.uid)) return { rival: holder, isHere: false };
  if (notes.takenFrom !== own.uid) return { notes: { ...notes, takenFrom: holder.uid } };
  const refused = [...notes.refused, holder.uid].slice(-MOST_REFUSED);
  return { notes: { takenFrom: undefined, refused } };
}

/** What is noted there. */
export function notesOn(proxies: KubeObject | undefined): Notes {
  const { [TAKEN_FROM_ANNOTATION]: takenFrom = '', [REFUSED_ANNOTATION]: refused = '' } =
    proxies?.metadata.annotations ?? {};
  return {
    takenFrom: UID.test(takenFrom) ? takenFrom : undefined,
    refused: refused
      .slice(0, 1024)
      .split(',')
      .filter((uid) => UID.test(uid))
      .slice(-MOST_REFUSED),
  };
}

/** The objects with these notes on the proxies. */
export function noted(
  objects: readonly KubeObject[],
  { takenFrom, refused }: Notes,
): readonly KubeObject[] {
  const proxies = proxiesIn(objects);
  const notes = {
    ...(takenFrom !== undefined && { [TAKEN_FROM_ANNOTATION]: takenFrom }),
    ...(refused.length > 0 && { [REFUSED_ANNOTATION]: refused.join(',') }),
  };
  return objects.map((object) => (object === proxies ? annotated(object, notes) : object));
}

function annotated(object: KubeObject, more: Readonly<Record<string, string>>): KubeObject {
  const { metadata } = object;
  return {
    ...object,
    metadata: { ...metadata, annotations: { ...metadata.annotations, ...more } },
  };
}

/** Who has what is in the tenant, if not this Exposure, which leaves. */
export function otherHolder(
  own: Holder,
  live: readonly KubeObject[],
  isHere: (holder: Holder) => boolean,
): Holder | undefined {
  const holder = holderOf(live);
  if (holder === undefined || isSameHolder(own, holder)) return undefined;
  const areKnown = own.uid !== undefined && holder.uid !== undefined;
  return areKnown || isHere(holder) ? holder : undefined;
}

/** What the one is told who does not have the tenant. */
export function takenFinding(rival: Holder, isHere: boolean): Finding {
  const { name, namespace } = PROXY;
  const proxies = 'the proxies of the tenant are those of';
  if (isHere) {
    return {
      ...{ code: 'TenantTaken', severity: 'error' },
      message: `${proxies} Exposure ${rival.exposure}, for the same control plane`,
      action: 'delete one of the two Exposures',
    };
  }
  return {
    ...{ code: 'TenantHeldElsewhere', severity: 'error' },
    message: `${proxies} ${rivalText(rival)}`,
    action: `delete one of the two Exposures; if the other one is gone for good, in the tenant: kubectl annotate daemonset ${name} --namespace=${namespace} ${REFUSED_ANNOTATION}-`,
  };
}

/** The name of one elsewhere. What a tenant has written there is no longer than a name is. */
export function rivalText({ exposure, uid = '' }: Holder): string {
  return `Exposure ${quoted(exposure, 128)} of another management cluster (uid ${quoted(uid, 64)})`;
}
