/**
 * The files of this repository that are generated from the schemas, as paths and contents.
 */
import { stringify } from 'yaml';
import { definitionOf, KINDS } from './definition.ts';
import { apiReference } from './reference.ts';

const NOTICE = 'Made by `make generate` from src/api; edit that.';

/** Returns the expected content of each generated file, by its path from the root of the repository. */
export function generatedFiles(): ReadonlyMap<string, string> {
  return new Map([
    ...KINDS.map((kind): [string, string] => [
      `deploy/crds/${kind.resource.plural}.yaml`,
      // kubectl parses YAML 1.1, in which an unquoted `on` or `1_000` is not a string.
      `# ${NOTICE}\n${stringify(definitionOf(kind), { compat: 'yaml-1.1', lineWidth: 120 })}`,
    ]),
    ['docs/reference/api.md', `<!-- ${NOTICE} -->\n\n${apiReference(KINDS)}`],
  ]);
}
