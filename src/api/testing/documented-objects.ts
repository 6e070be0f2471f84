/**
 * For tests only: the objects in the examples of the documentation.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import type { KubeObject } from '../../kube/object.ts';
import { RESOURCES } from '../../kube/resource.ts';

/** An object in an example. */
export interface DocumentedObject {
  /** The path of the page from the root of the repository. */
  readonly page: string;
  /** The heading above the example. */
  readonly heading: string;
  readonly object: KubeObject;
}

/** The contents of all examples. */
export interface Documented {
  readonly objects: readonly DocumentedObject[];
  /** The YAML examples that are not objects, as `PAGE: LAST KEY`. */
  readonly others: readonly string[];
}

const REPOSITORY = join(import.meta.dir, '..', '..', '..');
/** A heading, or a whole code block, so that a comment in a block does not count as a heading. */
const HEADING_OR_BLOCK = /^#+ (?<heading>[^\n]+)$|^```(?<language>\w*)\n(?<text>.*?)^```$/gms;
/** A line that stands for omitted fields. */
const ABRIDGED = /^\.\.\.$/m;

/** Returns all YAML examples, page by page. @throws Error with the position of an example that is not YAML */
export function documentedObjects(): Documented {
  const names = readdirSync(join(REPOSITORY, 'docs'), { recursive: true, encoding: 'utf8' });
  const pages = names.filter((name) => name.endsWith('.md')).map((name) => `docs/${name}`);
  const found = ['README.md', ...pages.toSorted()].flatMap(examplesOf);
  return {
    objects: found.filter((item) => typeof item !== 'string'),
    others: found.filter((item) => typeof item === 'string'),
  };
}

function examplesOf(page: string): readonly (DocumentedObject | string)[] {
  const file = readFileSync(join(REPOSITORY, page), 'utf8');
  const found: (DocumentedObject | string)[] = [];
  let heading = '';
  for (const { groups = {} } of file.matchAll(HEADING_OR_BLOCK)) {
    const { language, text = '' } = groups;
    heading = groups['heading'] ?? heading;
    if (language !== 'yaml' || ABRIDGED.test(text)) continue;
    for (const value of valuesIn(text, `${page}, ${heading}`)) {
      const object = objectIn(value);
      found.push(
        object === undefined ? `${page}: ${Object.keys(value).at(-1)}` : { page, heading, object },
      );
    }
  }
  return found;
}

function valuesIn(text: string, location: string): readonly object[] {
  return parseAllDocuments(text).map((document) => {
    const [error] = document.errors;
    if (error !== undefined) throw new Error(`${location}: ${error.message}`);
    return document.toJS() as object;
  });
}

/**
 * Returns the object of an example. A spec with a driver is that of an Edge, whose first lines are at the top of the
 * page.
 */
function objectIn(value: object): KubeObject | undefined {
  // `snicket run` accepts a Secret with `files`. An API server does not.
  if ('apiVersion' in value && !('files' in value)) return value as KubeObject;
  const { driver } = (value as { readonly spec?: { readonly driver?: string } }).spec ?? {};
  if (driver === undefined) return undefined;
  const { apiVersion, kind } = RESOURCES.edge;
  return { apiVersion, kind, metadata: { name: driver.toLowerCase() }, ...value };
}
