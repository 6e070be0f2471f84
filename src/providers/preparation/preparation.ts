/**
 * The desired fields of a provider's object, which put its control plane behind an edge.
 */
import type { KubeObject } from '../../kube/object.ts';
import type { Resource } from '../../kube/resource.ts';
import type { Finding } from '../../api/finding.ts';

/** The hosts and port of a control plane behind an edge. */
export interface PreparationSpec {
  readonly hosts: { readonly api: string; readonly konnectivity?: string | undefined };
  /** The port of the edge that clients dial. */
  readonly port: number;
  /** Hosts that clients may still use: certificates keep them. Default: none. */
  readonly previousHosts?: readonly string[] | undefined;
  /** The ingress classes that a controller may handle. Default: unknown. */
  readonly handledClasses?: ReadonlySet<string> | undefined;
  /**
   * Whether an Ingress that the provider creates for the user's own fields stays, because it is the route of the tenant, or
   * because the user creates the routes. Default false: no controller must serve it.
   */
  readonly keepsIngress?: boolean | undefined;
  /** The template of the chart that creates the control plane. Default: unknown. */
  readonly template?: KubeObject | undefined;
}

/** The path of a field: `['spec', 'networkProfile', 'port']`. It contains no list items. */
export type FieldPath = readonly string[];

/** A desired field of an object. */
export type DesiredField = DesiredValue | DesiredList;

/** A desired field with a single value. */
export interface DesiredValue {
  readonly path: FieldPath;
  /** The value that Snicket writes, unless the current value satisfies the field. */
  readonly value: string | number | boolean;
  /**
   * Reports whether the current value satisfies the field; undefined if the field does not exist. Default: only `value`
   * does.
   */
  readonly isMet?: ((present: unknown) => boolean) | undefined;
  /** Whether a chart renders the field, so that Snicket does not write it and only reads it back. Default false. */
  readonly isRendered?: boolean | undefined;
  /** The purpose of the field, for messages. */
  readonly purpose: string;
}

/**
 * A list with desired entries besides other ones. The lists of all providers are atomic, so Snicket writes the whole
 * list.
 */
export interface DesiredList {
  readonly path: FieldPath;
  readonly entries: readonly DesiredEntry[];
  readonly purpose: string;
}

/** A desired entry of a list. */
export interface DesiredEntry {
  /** The entry that Snicket adds, unless the current entries satisfy it. */
  readonly entry: unknown;
  /** Reports whether the current entries satisfy the desired one. Default: only an equal entry does. */
  readonly isMet?: ((present: readonly unknown[]) => boolean) | undefined;
  /** Reports whether the entry replaces an existing one, such as another value of the same flag. Default: none. */
  readonly replaces?: ((entry: unknown) => boolean) | undefined;
}

/** Reports whether a current value satisfies a desired field. */
export function isValueMet({ value, isMet }: DesiredValue, present: unknown): boolean {
  return isMet === undefined ? present === value : isMet(present);
}

/** Returns the desired entries that a list does not satisfy. */
export function missingEntries(
  { entries }: Pick<DesiredList, 'entries'>,
  list: readonly unknown[],
): readonly DesiredEntry[] {
  return entries.filter(({ entry, isMet }) => {
    const isPresent = list.some((item) => Bun.deepEquals(item, entry));
    return !(isPresent || isMet?.(list) === true);
  });
}

/** The desired fields of one object. */
export interface Preparation {
  /** The object as it would be without Snicket. */
  readonly object: KubeObject;
  readonly resource: Resource;
  readonly fields: readonly DesiredField[];
  /** With an error, nothing must be written. */
  readonly findings: readonly Finding[];
}

/** Returns a path as messages show it: `.spec.networkProfile.port`. */
export function pathText(path: FieldPath): string {
  return path.map((name) => `.${name}`).join('');
}

/** Returns the desired entry for a command-line flag, which replaces any other value of the flag. */
export function flagEntry(flag: string, value: string): DesiredEntry {
  return {
    entry: `${flag}=${value}`,
    replaces: (entry) =>
      typeof entry === 'string' && (entry === flag || entry.startsWith(`${flag}=`)),
  };
}

/** Returns the same for a Kubernetes program, where any spelling of the flag with this value satisfies the entry. */
export function kubernetesFlagEntry(flag: string, value: string): DesiredEntry {
  return {
    entry: `${flag}=${value}`,
    isMet: (present) => {
      const values = flagValues(present, flag);
      return values.length > 0 && values.every((present) => present === value);
    },
    replaces: (entry) => isFlag(flag, entry),
  };
}

/**
 * Reports whether an argument is a flag, with or without a value. Kubernetes programs accept `_` for `-` in its name.
 */
export function isFlag(flag: string, argument: unknown): boolean {
  if (typeof argument !== 'string') return false;
  const [name = ''] = argument.split('=', 1);
  return flag === name.replaceAll('_', '-');
}

/** Returns the value of each occurrence of a flag, after `=` or in the next argument. */
function flagValues(list: readonly unknown[], flag: string): readonly (string | undefined)[] {
  return list.flatMap((argument, index) => {
    if (!isFlag(flag, argument)) return [];
    const text = argument as string;
    const equals = text.indexOf('=');
    return [equals < 0 ? valueBehind(list, index) : text.slice(equals + 1)];
  });
}

/** Returns the next argument if it is the value of a flag. */
export function valueBehind(list: readonly unknown[], index: number): string | undefined {
  const next = list[index + 1];
  return typeof next === 'string' && !next.startsWith('-') ? next : undefined;
}
