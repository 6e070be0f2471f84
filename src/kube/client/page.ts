/**
 * Lists, page by page.
 */
import { isObject } from '../object-read.ts';
import type { KubeObject } from '../object.ts';
import type { Resource } from '../resource.ts';

/** A part of a list. */
export interface Page<T extends KubeObject> {
  readonly items: readonly T[];
  readonly resourceVersion: string;
  /** Where the next one begins; empty at the end. */
  readonly continue: string;
  /** How many come after this page; 0 also where the server does not say. */
  readonly remaining: number;
}

/** What is looked at of an answer before its items are handed on as what the caller says they are. */
interface RawPage {
  readonly items?: unknown;
  readonly metadata?: {
    readonly resourceVersion?: unknown;
    readonly continue?: unknown;
    readonly remainingItemCount?: unknown;
  } | null;
}

/** Undefined if the answer is none. */
export function pageOf<T extends KubeObject>(
  answer: unknown,
  resource: Resource,
): Page<T> | undefined {
  if (typeof answer !== 'object' || answer === null) return undefined;
  const { items, metadata }: RawPage = answer;
  const { resourceVersion, continue: next, remainingItemCount: remaining } = metadata ?? {};
  // Go writes null for a list without items.
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

/** The items of a list do not say what they are: the list says it for all of them. */
function withKind<T extends KubeObject>(
  item: Partial<KubeObject>,
  { apiVersion, kind }: Resource,
): T {
  return { apiVersion, kind, ...item } as T;
}
