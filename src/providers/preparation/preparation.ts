/**
 * What a provider's object must carry so that its control plane can be behind an edge: as data, before anybody writes it.
 */
import type { KubeObject } from '../../kube/object.ts';
import type { Resource } from '../../kube/resource.ts';
import type { Finding } from '../../api/finding.ts';

/** What is wished of a control plane. */
export interface PreparationWish {
  readonly hosts: { readonly api: string; readonly konnectivity?: string | undefined };
  /** Of the edge, as clients see it. */
  readonly port: number;
  /** Hosts that somebody may still go by: certificates keep them. Default: none. */
  readonly formerHosts?: readonly string[] | undefined;
}

/** A field, by its names from the top: `['spec', 'networkProfile', 'port']`. No item of a list is in it. */
export type FieldPath = readonly string[];

/** One field of an object, and what has to be in it. */
export type FieldWish = ValueWish | ListWish;

/** A field that is this very value. */
export interface ValueWish {
  readonly path: FieldPath;
  readonly value: string | number | boolean;
  /** What it is for, as a person is told. */
  readonly why: string;
}

/** A list that has these entries among others. The lists of all providers have one owner each, so all of it is written. */
export interface ListWish {
  readonly path: FieldPath;
  readonly entries: readonly EntryWish[];
  readonly why: string;
}

/** An entry of a list. */
export interface EntryWish {
  readonly entry: unknown;
  /** An entry that it takes the place of: another value of the same flag. Default: none. */
  readonly replaces?: ((entry: unknown) => boolean) | undefined;
}

/** What one object must carry. */
export interface Preparation {
  /** As it would be without Snicket. */
  readonly object: KubeObject;
  readonly resource: Resource;
  readonly fields: readonly FieldWish[];
  /** With one that is an error, nothing is to be written. */
  readonly findings: readonly Finding[];
}

/** As messages name a field: `.spec.networkProfile.port`. */
export function pathText(path: FieldPath): string {
  return path.map((name) => `.${name}`).join('');
}

/** The wish for a flag of a command line, whatever value it has now. */
export function flagEntry(flag: string, value: string): EntryWish {
  return {
    entry: `${flag}=${value}`,
    replaces: (entry) =>
      typeof entry === 'string' && (entry === flag || entry.startsWith(`${flag}=`)),
  };
}
