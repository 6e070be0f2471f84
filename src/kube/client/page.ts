/**
 * The pages of a list.
 */
import { isObject } from '../object-read.ts';
import type { KubeObject } from '../object.ts';
import type { Resource } from '../resource.ts';

/** A page of a list. */
export interface Page<T extends KubeObject> {
  readonly items: readonly T[];
  readonly resourceVersion: string;
  /** The continue token of the next page. Empty at the end. */
  readonly continue: string;
  /** The number of objects after this page. 0 if the server does not say. */
  readonly remaining: number;
}

/** The fields that are checked before the items are returned as objects of the caller's type. */
interface RawPage {
  readonly items?: unknown;
  readonly metadata?: {
    readonly resourceVersion?: unknown;
    readonly continue?: unknown;
    readonly remainingItemCount?: unknown;
  } | null;
}

/** Returns the page, or undefined if the response is not a list. */
export function pageOf<T extends KubeObject>(
  response: unknown,
  resource: Resource,
): Page<T> | undefined {
  if (typeof response !== 'object' || response === null) return undefined;
  const { items, metadata }: RawPage = response;
  const { resourceVersion, continue: next, remainingItemCount: remaining } = metadata ?? {};
  // Go encodes an empty list as null.
  const all: unknown = items ?? [];
  if (typeof resourceVersion !== 'string' || !Array.isArray(all) || !all.every(isObject)) {
    return undefined;
  }
  return {
    items: all.map((item) => withKind<T>(item, resource)),
    resourceVersion,
    continue: typeof next === 'string' ? next : '',
    remaining: Number.isSafeInteger(remaining) ? Math.max(0, Number(remaining)) : 0,
  };
}

/** Adds the apiVersion and kind, which list items do not have. */
function withKind<T extends KubeObject>(
  item: Partial<KubeObject>,
  { apiVersion, kind }: Resource,
): T {
  return { apiVersion, kind, ...item } as T;
}
