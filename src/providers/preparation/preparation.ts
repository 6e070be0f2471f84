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
  /** The ingress classes that a controller may handle. Default: they are not known. */
  readonly handledClasses?: ReadonlySet<string> | undefined;
}

/** A field, by its names from the top: `['spec', 'networkProfile', 'port']`. No item of a list is in it. */
export type FieldPath = readonly string[];

/** One field of an object, and what has to be in it. */
export type FieldWish = ValueWish | ListWish;

/** A field with one value. */
export interface ValueWish {
  readonly path: FieldPath;
  /** What Snicket writes if the present value does not do the job. */
  readonly value: string | number | boolean;
  /** Whether a present value does the job; undefined if the field does not exist. Default: only `value` does. */
  readonly isMet?: ((present: unknown) => boolean) | undefined;
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
  /** What Snicket adds if no present entry does the job. */
  readonly entry: unknown;
  /** Whether the present entries do the job. Default: only an equal entry does. */
  readonly isMet?: ((present: readonly unknown[]) => boolean) | undefined;
  /** An entry that it takes the place of: another value of the same flag. Default: none. */
  readonly replaces?: ((entry: unknown) => boolean) | undefined;
}

/** Whether a value of an object does the job. */
export function isValueMet({ value, isMet }: ValueWish, present: unknown): boolean {
  return isMet === undefined ? present === value : isMet(present);
}

/** The entries that a list lacks. */
export function missingEntries(
  { entries }: Pick<ListWish, 'entries'>,
  list: readonly unknown[],
): readonly EntryWish[] {
  return entries.filter(({ entry, isMet }) => {
    const isThere = list.some((one) => Bun.deepEquals(one, entry));
    return !(isThere || isMet?.(list) === true);
  });
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

/** The entry for a flag of a command line, whatever value it has now. */
export function flagEntry(flag: string, value: string): EntryWish {
  return {
    entry: `${flag}=${value}`,
    replaces: (entry) =>
      typeof entry === 'string' && (entry === flag || entry.startsWith(`${flag}=`)),
  };
}

/** The same for a program of Kubernetes, of which any spelling of the flag and value does the job. */
export function kubernetesFlagEntry(flag: string, value: string): EntryWish {
  return {
    entry: `${flag}=${value}`,
    isMet: (present) => {
      const values = flagValues(present, flag);
      return values.length > 0 && values.every((one) => one === value);
    },
    replaces: (entry) => isFlag(flag, entry),
  };
}

/** Whether an argument is a flag, with or without a value. The programs of Kubernetes take `_` for `-` in its name. */
export function isFlag(flag: string, argument: unknown): boolean {
  if (typeof argument !== 'string') return false;
  const [name = ''] = argument.split('=', 1);
  return flag === name.replaceAll('_', '-');
}

/** The value of each occurrence of a flag: behind `=`, or the next argument. */
export function flagValues(
  list: readonly unknown[],
  flag: string,
): readonly (string | undefined)[] {
  return list.flatMap((argument, index) => {
    if (!isFlag(flag, argument)) return [];
    const text = argument as string;
    const equals = text.indexOf('=');
    return [equals < 0 ? valueBehind(list, index) : text.slice(equals + 1)];
  });
}

/** The argument behind a flag, if that is its value. */
export function valueBehind(list: readonly unknown[], index: number): string | undefined {
  const next = list[index + 1];
  return typeof next === 'string' && !next.startsWith('-') ? next : undefined;
}
