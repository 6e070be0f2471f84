/**
 * Kubernetes objects as JSON has them: what all of them share. The fields of a kind belong to whoever uses that kind.
 */

/** An object's place: `namespace` is absent for those of the whole cluster. */
export interface ObjectKey {
  readonly name: string;
  readonly namespace?: string | undefined;
}

/** Whoever an object goes with. */
export interface OwnerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller?: boolean;
  readonly blockOwnerDeletion?: boolean;
}

/** Who wrote which fields, by server-side apply or otherwise. */
export interface ManagedFields {
  readonly manager?: string;
  readonly operation?: 'Apply' | 'Update';
  readonly apiVersion?: string;
  readonly subresource?: string;
  readonly time?: string;
  readonly fieldsV1?: Readonly<Record<string, unknown>>;
}

/** The metadata of an object. */
export interface ObjectMeta {
  readonly name: string;
  readonly namespace?: string | undefined;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly generation?: number;
  readonly creationTimestamp?: string;
  readonly deletionTimestamp?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly finalizers?: readonly string[];
  readonly ownerReferences?: readonly OwnerReference[];
  readonly managedFields?: readonly ManagedFields[];
}

/** Any object. */
export interface KubeObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: ObjectMeta;
}

/** One claim of an object's status. */
export interface Condition {
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown';
  /** A stable code. */
  readonly reason: string;
  /** A sentence for people. */
  readonly message: string;
  /** When `status` last became what it is. */
  readonly lastTransitionTime: string;
  readonly observedGeneration?: number;
}

/** `namespace/name`, or the name alone. */
export function keyText({ name, namespace }: ObjectKey): string {
  return namespace === undefined ? name : `${namespace}/${name}`;
}

/** The key of a namespaced object from its text, `namespace/name`. */
export function parseKey(text: string): { readonly namespace: string; readonly name: string } {
  const slash = text.indexOf('/');
  return { namespace: text.slice(0, slash), name: text.slice(slash + 1) };
}

/** As messages name an object: `Ingress tenants/snicket-blue`. */
export function objectText({ kind, metadata }: KubeObject): string {
  return `${kind} ${keyText(metadata)}`;
}

/** Of the same object, by resourceVersion: a decimal number, which grows with each write. */
export function isNewer({ metadata: one }: KubeObject, { metadata: other }: KubeObject): boolean {
  const [a = '', b = ''] = [one.resourceVersion, other.resourceVersion];
  return one.uid === other.uid && isLowerVersion(b, a);
}

/** Whether a resourceVersion, a decimal number without leading zeros, is lower than another. */
export function isLowerVersion(version: string, than: string): boolean {
  return version.length === than.length ? version < than : version.length < than.length;
}

/** A time as most of the API keeps it: in seconds, so that what is read back is what was written. */
export function timeText(time: Date): string {
  return `${time.toISOString().slice(0, 19)}Z`;
}

/** A time as leases and events keep it: in microseconds. */
export function microTimeText(time: Date): string {
  return time.toISOString().replace('Z', '000Z');
}
