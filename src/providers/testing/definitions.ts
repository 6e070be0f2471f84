/**
 * For tests only: CRDs of the kinds in examples. Snicket has reduced ones, and the real ones may be available.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const SOURCE = join(import.meta.dir, '..', '..');

/** The folders with reduced CRDs, which have the fields that Snicket reads or writes. */
export const SMALL_DEFINITIONS: readonly string[] = [
  join(SOURCE, 'providers', 'testing', 'definitions'),
  join(SOURCE, 'edges', 'testing', 'definitions'),
];

/** The folder with the real CRDs, named GROUP_PLURAL.yaml like the reduced ones. */
export const REAL_DEFINITIONS =
  process.env['SNICKET_CRDS'] ?? join(SOURCE, '..', '..', 'shared', 'crds');

/** Returns the paths of all reduced CRDs. */
export function smallDefinitions(): readonly string[] {
  return SMALL_DEFINITIONS.flatMap((folder) =>
    readdirSync(folder)
      .toSorted()
      .map((name) => join(folder, name)),
  );
}

/** Reads a CRD. */
export function readDefinition(path: string): Definition {
  // Bun's parser, because some files have half a megabyte: `yaml` needs a third of a second for one.
  return Bun.YAML.parse(readFileSync(path, 'utf8')) as Definition;
}

/** The fields of a CustomResourceDefinition that tests read. */
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

/** A field, with its children. */
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
