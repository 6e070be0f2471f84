/**
 * The fields that all Kubernetes objects share. The fields of a kind are defined where that kind is used.
 */

/** The key of an object. `namespace` is absent for cluster-scoped objects. */
export interface ObjectKey {
  readonly name: string;
  readonly namespace?: string | undefined;
}

/** An owner of an object. */
export interface OwnerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller?: boolean;
  readonly blockOwnerDeletion?: boolean;
}

/** The fields that a manager wrote, by server-side apply or otherwise. */
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

/** A condition of an object's status. */
export interface Condition {
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown';
  /** A stable code. */
  readonly reason: string;
  /** A sentence for users. */
  readonly message: string;
  /** When `status` last changed. */
  readonly lastTransitionTime: string;
  readonly observedGeneration?: number;
}

/** Returns `namespace/name`, or the name alone. */
export function keyText({ name, namespace }: ObjectKey): string {
  return namespace === undefined ? name : `${namespace}/${name}`;
}

/** Parses the key of a namespaced object, `namespace/name`. */
export function parseKey(text: string): { readonly namespace: string; readonly name: string } {
  const slash = text.indexOf('/');
  return { namespace: text.slice(0, slash), name: text.slice(slash + 1) };
}

/** Returns the name of an object in messages: `Ingress tenants/snicket-blue`. */
export function objectText({ kind, metadata }: KubeObject): string {
  return `${kind} ${keyText(metadata)}`;
}

/**
 * Reports whether the first is a newer version of the same object, by resourceVersion: a decimal number that grows with
 * each write.
 */
export function isNewer(a: KubeObject, b: KubeObject): boolean {
  const { resourceVersion = '', uid } = a.metadata;
  return (
    uid === b.metadata.uid && isLowerVersion(b.metadata.resourceVersion ?? '', resourceVersion)
  );
}

/** Reports whether a resourceVersion, a decimal number without leading zeros, is lower than another. */
export function isLowerVersion(version: string, other: string): boolean {
  return version.length === other.length ? version < other : version.length < other.length;
}

/** Formats a time in seconds, as most of the API stores it, so that it reads back as written. */
export function timeText(time: Date): string {
  return `${time.toISOString().slice(0, 19)}Z`;
}

/** Formats a time in microseconds, as Leases and Events store it. */
export function microTimeText(time: Date): string {
  return time.toISOString().replace('Z', '000Z');
}
