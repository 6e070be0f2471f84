/**
 * Decides whether an object must be applied. It must in two cases: the desired state has changed, which the hash in an
 * annotation shows, or another client has changed a desired field of the live object.
 */
import { canonicalJson } from './canonical-json.ts';
import { differences, type Difference } from './differences.ts';
import type { KubeObject } from '../object.ts';

/** The annotation with the hash of the applied configuration. */
export const APPLIED_ANNOTATION = 'snicket.dev/applied';

/**
 * Reports whether an apply would change something. `tolerated` are differences that remained after an earlier apply,
 * because the server normalizes a value or because a list has items of other field managers. Applying again would not
 * remove them.
 */
export function needsApply(
  desired: KubeObject,
  live: KubeObject | undefined,
  tolerated: readonly Difference[] = [],
): boolean {
  if (live === undefined) return true;
  if (live.metadata.annotations?.[APPLIED_ANNOTATION] !== appliedHash(desired)) return true;
  const found = differences(desired, live);
  return found.length > 0 && !Bun.deepEquals(found, tolerated);
}

/** Hashes by desired object. Desired objects are immutable, and one reconcile compares each of them several times. */
const hashes = new WeakMap<KubeObject, string>();

/** Returns the hash of a desired object. It does not depend on the order of fields. */
export function appliedHash(desired: KubeObject): string {
  const known = hashes.get(desired);
  if (known !== undefined) return known;
  const hash = new Bun.CryptoHasher('sha256').update(canonicalJson(desired)).digest('hex');
  hashes.set(desired, hash.slice(0, 32));
  return hash.slice(0, 32);
}
