/**
 * For tests only: the YAML blocks of public documents on control planes behind an ingress, as their readers apply them.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';

const FOLDER = join(import.meta.dir, 'published');

/** Returns the blocks of a document by title. Each block begins with its title as a comment. */
export function publishedBlocks(file: string): ReadonlyMap<string, PublishedValue> {
  const text = readFileSync(join(FOLDER, `${file}.yaml`), 'utf8');
  const blocks = text.split(/^---\n/m).map((block) => {
    const [, title = ''] = /^# (.+)\n/.exec(block) ?? [];
    const [document] = parseAllDocuments(block);
    return [title, document?.toJS() as PublishedValue] as const;
  });
  return new Map(blocks);
}

/** The content of a block: an object, or a part of one. */
export type PublishedValue = Readonly<Record<string, unknown>>;

/** Returns an object with the fields of a block. Lists of the block replace those of the object. */
export function withBlock<T extends object>(object: T, block: PublishedValue): T {
  const entries = Object.entries(block).map(([name, value]) => {
    const before = (object as PublishedValue)[name];
    return [name, isMap(before) && isMap(value) ? withBlock(before, value) : value] as const;
  });
  return { ...object, ...Object.fromEntries(entries) };
}

function isMap(value: unknown): value is PublishedValue {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
