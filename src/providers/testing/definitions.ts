/**
 * For tests only: definitions of the kinds that examples are of. Small ones of our own, which are always there, and those of
 * the projects themselves, where somebody has put them.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const SOURCE = join(import.meta.dir, '..', '..');

/** Folders with our own: as much of each as Snicket reads or writes. */
export const SMALL_DEFINITIONS: readonly string[] = [
  join(SOURCE, 'providers', 'testing', 'definitions'),
  join(SOURCE, 'edges', 'testing', 'definitions'),
];

/** The folder where theirs would be, called as ours are: GROUP_PLURAL.yaml. */
export const REAL_DEFINITIONS =
  process.env['SNICKET_CRDS'] ?? join(SOURCE, '..', '..', 'shared', 'crds');

/** The paths of all of our own. */
export function smallDefinitions(): readonly string[] {
  return SMALL_DEFINITIONS.flatMap((folder) =>
    readdirSync(folder)
      .toSorted()
      .map((name) => join(folder, name)),
  );
}

/** Reads one. */
export function readDefinition(path: string): Definition {
  // Bun's own reader: some have half a megabyte, which takes `yaml` a third of a second.
  return Bun.YAML.parse(readFileSync(path, 'utf8')) as Definition;
}

/** As much of a CustomResourceDefinition as is looked at. */
export interface Definition {
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly group: string;
    readonly names: { readonly plural: string };
    readonly scope: string;
    readonly versions: readonly DefinedVersion[];
  };
}

/** One version of a kind. */
export interface DefinedVersion {
  readonly name: string;
  readonly subresources?: { readonly status?: object };
  readonly schema: { readonly openAPIV3Schema: DefinedField };
}

/** A field, with those below it. */
export interface DefinedField {
  readonly type?: string;
  readonly default?: unknown;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, DefinedField>>;
  readonly additionalProperties?: DefinedField;
  readonly items?: DefinedField;
  readonly 'x-kubernetes-list-type'?: string;
  readonly 'x-kubernetes-preserve-unknown-fields'?: boolean;
}
