/**
 * The files of this repository that are made from the schemas: path, and text.
 */
import { stringify } from 'yaml';
import { definitionOf, KINDS } from './definition.ts';
import { apiReference } from './reference.ts';

const NOTICE = 'Made by `make generate` from src/api; edit that.';

/** Paths from the root of the repository, with what has to be there. */
export function generatedFiles(): ReadonlyMap<string, string> {
  return new Map([
    ...KINDS.map((kind): [string, string] => [
      `deploy/crds/${kind.resource.plural}.yaml`,
      // kubectl reads YAML 1.1, in which `on` and `1_000` are no texts.
      `# ${NOTICE}\n${stringify(definitionOf(kind), { compat: 'yaml-1.1', lineWidth: 120 })}`,
    ]),
    ['docs/reference/api.md', `<!-- ${NOTICE} -->\n\n${apiReference(KINDS)}`],
  ]);
}
