/**
 * How an API server handles writes.
 */
import { systemClock, type Clock } from '../../clock/clock.ts';
import { timeText, type ObjectKey, type ObjectMeta } from '../object.ts';
import { RESOURCES, type Resource } from '../resource.ts';
import { alreadyExists, badRequest, conflict, invalid, notFound } from './api-failure.ts';
import { hasStatus } from './apply/list-types.ts';
import { applyFields, updateFields, writableBy, type Writer } from './apply/managed-fields.ts';
import { isObject, isSameJson, objectIn, without, type JsonObject } from './json.ts';
import type { ApiObject, ObjectStore } from './object-store.ts';

/** A write request. */
export interface WriteCall {
  readonly resource: Resource;
  readonly key: ObjectKey;
  readonly subresource: 'status' | undefined;
  readonly manager: string;
  /** Returns the result without writing it. */
  readonly dryRun: boolean;
}

/** The preconditions of a delete. */
interface Preconditions {
  readonly uid?: unknown;
  readonly resourceVersion?: unknown;
}

const NAME = /^[a-z0-9]([-a-z0-9.:]*[a-z0-9])?$/;

/** Writes to a store by the rules of the API. */
export class ObjectWrites {
  readonly #store: ObjectStore;
  readonly #clock: Clock;

  constructor(store: ObjectStore, clock: Clock = systemClock) {
    this.#store = store;
    this.#clock = clock;
  }

  /** Creates an object. */
  create(call: WriteCall, body: JsonObject): ApiObject {
    const fresh = this.#fresh(call, body);
    return this.#commit(call, undefined, updateFields({}, fresh, this.#writer(call)));
  }

  /** Replaces an object. */
  replace(call: WriteCall, body: JsonObject): ApiObject {
    return this.#update(call, this.#existing(call), body);
  }

  /** Patches an object. `change` is called once. */
  patch(call: WriteCall, change: (live: ApiObject) => unknown): ApiObject {
    const live = this.#existing(call);
    const next = change(live);
    if (!isObject(next)) throw badRequest('the patch leaves no object');
    return this.#update(call, live, next);
  }

  /** Server-side apply. Creates the object if it does not exist. */
  apply(call: WriteCall, body: JsonObject, force: boolean): ApiObject {
    const { resource, key } = call;
    const metadata = objectIn(body, 'metadata');
    if (metadata['managedFields'] !== undefined) {
      throw badRequest('metadata.managedFields must be nil');
    }
    const live = this.#store.get(resource, key);
    if (live === undefined) {
      if (call.subresource !== undefined) throw notFound(resource, key.name);
      if (metadata['uid'] !== undefined) throw conflict(resource, key, 'uid mismatch');
      const { apiVersion, kind, metadata: fresh } = this.#fresh(call, body);
      const shell = { apiVersion, kind, metadata: systemMetadata(fresh) };
      return this.#commit(call, undefined, applyFields(shell, body, force, this.#writer(call)));
    }
    checkMetadata(call, live, metadata);
    return this.#commit(call, live, applyFields(live, body, force, this.#writer(call)));
  }

  /** Deletes an object, or marks it as being deleted if it has finalizers. */
  remove(call: WriteCall, preconditions: Preconditions): ApiObject {
    const { resource, key } = call;
    const live = this.#existing(call);
    checkVersion(call, live, preconditions);
    if (call.dryRun) return live;
    if ((live.metadata.finalizers ?? []).length === 0) {
      return this.#store.remove(resource, key) ?? live;
    }
    if (live.metadata.deletionTimestamp !== undefined) return live;
    const marked = {
      ...live.metadata,
      deletionTimestamp: timeText(this.#clock.now()),
      deletionGracePeriodSeconds: 0,
    };
    return this.#store.put(resource, { ...live, metadata: marked });
  }

  #update(call: WriteCall, live: ApiObject, body: JsonObject): ApiObject {
    checkMetadata(call, live, objectIn(body, 'metadata'));
    const next = {
      ...(call.subresource === 'status'
        ? live
        : hasStatus(live.kind)
          ? { status: live['status'] }
          : {}),
      ...writableBy(this.#writer(call), body),
    };
    const updated = updateFields(live, withSystemFields(live, next), this.#writer(call));
    return this.#commit(call, live, updated);
  }

  /** Writes only a changed object. A write without a change creates no version. */
  #commit(call: WriteCall, live: ApiObject | undefined, body: JsonObject): ApiObject {
    const next = live === undefined ? asObject(body) : withSystemFields(live, body);
    const { resource, key, dryRun } = call;
    if (live !== undefined) {
      checkFinalizers(call, live, next);
      if (isSameJson(next, live)) return live;
    }
    const isSpecChanged = live === undefined || !isSameJson(specOf(next), specOf(live));
    const generation = (live?.metadata.generation ?? 0) + (isSpecChanged ? 1 : 0);
    const written = hasStatus(resource.kind)
      ? { ...next, metadata: { ...next.metadata, generation } }
      : next;
    if (dryRun) return written;
    const { deletionTimestamp, finalizers = [] } = written.metadata;
    // In one step: after the first of two steps alone, the object would never be removed.
    if (live !== undefined && deletionTimestamp !== undefined && finalizers.length === 0) {
      return this.#store.remove(resource, key) ?? written;
    }
    return this.#store.put(resource, written);
  }

  #writer({ resource, manager, subresource }: WriteCall): Writer {
    const { apiVersion, kind } = resource;
    return { manager, apiVersion, kind, subresource, now: timeText(this.#clock.now()) };
  }

  #existing({ resource, key }: WriteCall): ApiObject {
    const live = this.#store.get(resource, key);
    if (live === undefined) throw notFound(resource, key.name);
    return live;
  }

  /** Returns the body with the fields that the server sets. */
  #fresh({ resource, key }: WriteCall, body: JsonObject): ApiObject {
    const { name, namespace } = key;
    const metadata = objectIn(body, 'metadata');
    if (!NAME.test(name) || name.length > 253) {
      throw invalid(resource, key, 'metadata.name', `Invalid value: ${JSON.stringify(name)}`);
    }
    if (metadata['resourceVersion'] !== undefined) {
      throw badRequest('resourceVersion should not be set on objects to be created');
    }
    if (this.#store.get(resource, key) !== undefined) throw alreadyExists(resource, name);
    if (
      namespace !== undefined &&
      this.#store.get(RESOURCES.namespace, { name: namespace }) === undefined
    ) {
      throw notFound(RESOURCES.namespace, namespace);
    }
    return {
      ...(hasStatus(resource.kind) ? without(body, 'status') : body),
      apiVersion: resource.apiVersion,
      kind: resource.kind,
      metadata: {
        ...without(metadata, 'managedFields', 'deletionTimestamp', 'generation'),
        name,
        ...(namespace === undefined ? {} : { namespace }),
        uid: crypto.randomUUID(),
        creationTimestamp: timeText(this.#clock.now()),
      },
    };
  }
}

const SYSTEM_METADATA = [
  'name',
  'namespace',
  'uid',
  'resourceVersion',
  'generation',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
] as const;

function systemMetadata(metadata: ObjectMeta): ObjectMeta {
  const all: JsonObject = { ...metadata };
  const known = SYSTEM_METADATA.map((field): [string, unknown] => [field, all[field]]);
  return {
    name: metadata.name,
    ...Object.fromEntries(known.filter(([, value]) => value !== undefined)),
  };
}

/** Keeps the fields that a client cannot change. */
function withSystemFields(live: ApiObject, body: JsonObject): ApiObject {
  const { apiVersion, kind, metadata } = live;
  return {
    ...without(body, ...Object.keys(body).filter((field) => body[field] === undefined)),
    apiVersion,
    kind,
    metadata: {
      ...without(objectIn(body, 'metadata'), ...SYSTEM_METADATA),
      ...systemMetadata(metadata),
    },
  };
}

/** Returns a body that {@link ObjectWrites} has checked. */
function asObject(body: JsonObject): ApiObject {
  return body as unknown as ApiObject;
}

function specOf(object: ApiObject): JsonObject {
  return without(object, 'metadata', 'status');
}

function checkMetadata(call: WriteCall, live: ApiObject, metadata: JsonObject): void {
  const { uid, resourceVersion } = metadata;
  checkVersion(call, live, { resourceVersion });
  if (uid === undefined || uid === live.metadata.uid) return;
  const why = `Invalid value: ${JSON.stringify(uid)}: field is immutable`;
  throw invalid(call.resource, call.key, 'metadata.uid', why);
}

function checkVersion(
  { resource, key }: WriteCall,
  live: ApiObject,
  { uid, resourceVersion }: Preconditions,
): void {
  if (uid !== undefined && uid !== live.metadata.uid) {
    const why = `Precondition failed: UID in precondition: ${JSON.stringify(uid)}, UID in object meta: ${live.metadata.uid}`;
    throw conflict(resource, key, why);
  }
  if (resourceVersion !== undefined && resourceVersion !== live.metadata.resourceVersion) {
    const why =
      'the object has been modified; please apply your changes to the latest version and try again';
    throw conflict(resource, key, why);
  }
}

function checkFinalizers({ resource, key }: WriteCall, live: ApiObject, next: ApiObject): void {
  if (live.metadata.deletionTimestamp === undefined) return;
  const added = (next.metadata.finalizers ?? []).filter(
    (finalizer) => !live.metadata.finalizers?.includes(finalizer),
  );
  if (added.length === 0) return;
  const why = `Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers ${JSON.stringify(added)}`;
  throw invalid(resource, key, 'metadata.finalizers', why);
}
