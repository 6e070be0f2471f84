import { expect, test } from 'bun:test';
import { existsSync } from 'node:fs';
import { join, posix } from 'node:path';
import { anchorOf, parsePage, readPages, REPOSITORY, type Page } from './pages.ts';

/** The page from which every other page is reachable. */
const INDEX = 'docs/README.md';

/** A relative link, resolved. */
interface Target {
  readonly path: string;
  readonly anchor: string | undefined;
}

function targetOf(page: Page, link: string): Target | undefined {
  if (/^[a-z]+:/.test(link)) return undefined;
  const [path = '', anchor] = link.split('#');
  return { path: path === '' ? page.path : posix.join(posix.dirname(page.path), path), anchor };
}

const pages = new Map(readPages().map((page) => [page.path, page]));

test('every relative link points to a file, and every anchor to a heading', () => {
  const broken = [...pages.values()].flatMap((page) =>
    page.links
      .filter((link) => {
        const target = targetOf(page, link);
        if (target === undefined) return false;
        if (!existsSync(join(REPOSITORY, target.path))) return true;
        const linked = pages.get(target.path);
        return target.anchor !== undefined && linked?.anchors.has(target.anchor) !== true;
      })
      .map((link) => `${page.path}: ${link}`),
  );

  expect(broken).toEqual([]);
});

test('every page is reachable from the index', () => {
  const reached = new Set([INDEX]);
  for (const path of reached) {
    const page = pages.get(path);
    for (const link of page?.links ?? []) {
      const target = page && targetOf(page, link);
      if (target && pages.has(target.path)) reached.add(target.path);
    }
  }

  expect([...pages.keys()].filter((path) => !reached.has(path))).toEqual([]);
});

test('finds headings, links and blocks of a page, and ignores code', () => {
  const page = parsePage(
    'docs/a.md',
    [
      '# A `b` c',
      '',
      'See [it](x.md#y), `[no](z.md)`.',
      '',
      '```sh',
      '# no heading',
      'run',
      '```',
      '',
      '    one',
      '',
      '    two',
      '',
      '# A b c',
    ].join('\n'),
  );

  expect([...page.anchors]).toEqual(['a-b-c', 'a-b-c-1']);
  expect(page.links).toEqual(['x.md#y']);
  expect(page.blocks).toEqual([
    { language: 'sh', text: '# no heading\nrun', line: 6 },
    { language: '', text: 'one\n\ntwo', line: 10 },
  ]);
});

test('derives anchors as GitHub does', () => {
  expect(anchorOf('`snicket render`, `snicket diff`')).toBe('snicket-render-snicket-diff');
  expect(anchorOf("The edge's addresses: [a](b.md)")).toBe('the-edges-addresses-a');
});
