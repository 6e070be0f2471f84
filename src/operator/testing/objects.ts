/**
 * For tests only: objects as users and controllers write them.
 */
import type { KubeObject, ObjectKey, ObjectMeta } from '../../kube/object.ts';
import { RESOURCES } from '../../kube/resource.ts';
import type { ApiObject } from '../../kube/store/object-store.ts';

/** An object of a kind in RESOURCES. */
export function objectOf(kind: string, metadata: ObjectMeta, rest: object = {}): ApiObject {
  const resource = Object.values(RESOURCES).find((candidate) => candidate.kind === kind);
  return { apiVersion: resource?.apiVersion ?? 'v1', kind, metadata, ...rest };
}

/** A Secret with these files. */
export function secretOf(key: ObjectKey, files: Readonly<Record<string, string>>): ApiObject {
  return objectOf('Secret', key, { data: encoded(files) });
}

/** Files as the data of a Secret. */
export function encoded(files: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(files).map(([key, text]) => [key, Buffer.from(text).toString('base64')]),
  );
}

/** A file of a Secret. */
export function fileIn(secret: KubeObject | undefined, name: string): string {
  const { data = {} } = (secret ?? {}) as { readonly data?: Readonly<Record<string, string>> };
  return Buffer.from(data[name] ?? '', 'base64').toString();
}

/** All objects of a server by kind and key, without fields that change with every write, and without Events and Leases. */
export function snapshotOf(objects: readonly KubeObject[]): Readonly<Record<string, KubeObject>> {
  const kept = objects.filter(({ kind }) => kind !== 'Event' && kind !== 'Lease');
  return Object.fromEntries(
    kept.map((object) => {
      const { resourceVersion: _version, managedFields: _fields, ...metadata } = object.metadata;
      const { namespace = '', name } = metadata;
      return [`${object.kind} ${namespace}/${name}`, { ...object, metadata }];
    }),
  );
}
