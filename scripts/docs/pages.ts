/** The documentation as pages of Markdown: their headings, links and code blocks. */
import { readdirSync, readFileSync } from 'node:fs';
import { join, posix, resolve } from 'node:path';

export const REPOSITORY = resolve(import.meta.dir, '../..');

/** Pages outside docs/. */
const ROOT_PAGES = ['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', 'SECURITY.md'];

/** A fenced or indented block of a page. */
export interface CodeBlock {
  /** The language after the fence, or '' for an indented block. */
  readonly language: string;
  readonly text: string;
  /** Number of the first line of text, from 1. */
  readonly line: number;
}

/** A page of the documentation. */
export interface Page {
  /** Path from the root of the repository. */
  readonly path: string;
  /** The anchors of its headings, as GitHub derives them. */
  readonly anchors: ReadonlySet<string>;
  /** The targets of the links outside code. */
  readonly links: readonly string[];
  readonly blocks: readonly CodeBlock[];
}

/** Returns all pages, in the order of their paths. */
export function readPages(): readonly Page[] {
  const root = readdirSync(REPOSITORY);
  const docs = readdirSync(join(REPOSITORY, 'docs'), { recursive: true, encoding: 'utf8' });
  const paths = [
    ...ROOT_PAGES.filter((name) => root.includes(name)),
    ...docs.filter((name) => name.endsWith('.md')).map((name) => posix.join('docs', name)),
  ];
  return paths
    .toSorted()
    .map((path) => parsePage(path, readFileSync(join(REPOSITORY, path), 'utf8')));
}

/** Parses a page. */
export function parsePage(path: string, text: string): Page {
  const anchors = new Set<string>();
  const links: string[] = [];
  const blocks: CodeBlock[] = [];
  const lines = text.split('\n');
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at] ?? '';
    const block = blockAt(lines, at);
    if (block !== undefined) {
      blocks.push(block.found);
      at = block.lastLine;
      continue;
    }
    const heading = /^#{1,6} (?<title>.+)$/.exec(line)?.groups?.['title'];
    if (heading !== undefined) anchors.add(freeAnchor(anchorOf(heading), anchors));
    const prose = line.replaceAll(/`[^`]*`/g, '');
    for (const { groups } of prose.matchAll(/\]\((?<target>[^)\s]+)\)/g)) {
      links.push(groups?.['target'] ?? '');
    }
    for (const { groups } of prose.matchAll(/<img [^>]*src="(?<target>[^"]+)"/g)) {
      links.push(groups?.['target'] ?? '');
    }
  }
  return { path, anchors, links, blocks };
}

/** Returns the block that begins at this line, if one does. An indented block follows an empty line. */
function blockAt(
  lines: readonly string[],
  at: number,
): { readonly found: CodeBlock; readonly lastLine: number } | undefined {
  const fence = /^(?<indent> *)```(?<language>[\w-]*)/.exec(lines[at] ?? '')?.groups;
  if (fence !== undefined) {
    const indent = fence['indent'] ?? '';
    const end = lines.findIndex((line, index) => index > at && line.trim() === '```');
    if (end === -1) throw new Error(`the code block at line ${at + 1} has no end`);
    const text = lines.slice(at + 1, end).map((line) => line.slice(indent.length));
    const language = fence['language'] ?? '';
    return { found: { language, text: text.join('\n'), line: at + 2 }, lastLine: end };
  }
  const isIndented = (line: string | undefined) => /^ {4} *\S/.test(line ?? '');
  if (!isIndented(lines[at]) || (lines[at - 1] ?? '') !== '') return undefined;
  let end = at;
  while (
    isIndented(lines[end + 1]) ||
    (lines[end + 1]?.trim() === '' && isIndented(lines[end + 2]))
  ) {
    end += 1;
  }
  const text = lines.slice(at, end + 1).map((line) => line.slice(4));
  return { found: { language: '', text: text.join('\n'), line: at + 1 }, lastLine: end };
}

/** Returns the anchor of a heading as GitHub derives it: lower case, punctuation dropped, dashes for spaces. */
export function anchorOf(heading: string): string {
  return heading
    .replaceAll(/\[(?<text>[^\]]*)\]\([^)]*\)/g, '$<text>')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replaceAll(/\s/g, '-');
}

/** Returns the anchor, with a number if an earlier heading of the page has the same anchor. */
function freeAnchor(anchor: string, taken: ReadonlySet<string>): string {
  if (!taken.has(anchor)) return anchor;
  let number = 1;
  while (taken.has(`${anchor}-${number}`)) number += 1;
  return `${anchor}-${number}`;
}
