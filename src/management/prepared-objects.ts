/**
 * An index of the Exposures that have prepared objects of providers, by their records. Two Exposures never prepare the
 * same object.
 */
import { KeySets } from '../kube/key-sets.ts';
import { keyText, parseKey, type KubeObject } from '../kube/object.ts';
import { isUsable, RECORD_ANNOTATION, recordOf } from '../providers/preparation/record.ts';

/** Indexes the keys of Exposures by the uids in their records. */
export class PreparedObjects {
  readonly #owners = new KeySets();
  /** The text of the record and the uids in it, by key. */
  readonly #records = new Map<
    string,
    { readonly text: string; readonly uids: readonly string[] }
  >();

  /** Adds or updates an Exposure. */
  put(exposure: KubeObject): void {
    const key = keyText(exposure.metadata);
    const text = exposure.metadata.annotations?.[RECORD_ANNOTATION];
    if (this.#records.get(key)?.text === text) return;
    this.remove(key);
    if (text === undefined) return;
    const record = recordOf(exposure);
    const objects = isUsable(record) ? record.objects : [];
    const uids = objects.filter(({ fields }) => fields.length > 0).map(({ uid }) => uid);
    this.#records.set(key, { text, uids });
    for (const uid of uids) this.#owners.add(uid, key);
  }

  /** Removes the Exposure with this key. */
  remove(key: string): void {
    for (const uid of this.#records.get(key)?.uids ?? []) this.#owners.delete(uid, key);
    this.#records.delete(key);
  }

  /**
   * Returns the key of an Exposure other than `except` whose record contains this object; undefined if there is none. A
   * record in another namespace has no effect, since an Exposure prepares only objects in its own namespace.
   */
  otherOwnerOf(uid: string, except: string): string | undefined {
    const { namespace } = parseKey(except);
    return [...this.#owners.get(uid)].find(
      (key) => key !== except && parseKey(key).namespace === namespace,
    );
  }
}
