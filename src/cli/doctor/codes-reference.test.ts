import { expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { FINDING_CODES, FINDING_GROUPS } from '../../api/finding-codes/catalog.ts';
import { CONDITION_REASONS, EVENT_REASONS } from '../../api/finding-codes/reasons.ts';
import { RESULT_CODES } from '../../probe/codes.ts';
import { FULL_SENTENCES } from '../../text/testing/full-sentences.ts';
import { CODES_PAGE, codesReference } from './codes-reference.ts';

const root = resolve(import.meta.dir, '../../..');

test('the page is as `make generate` writes it', () => {
  expect(readFileSync(join(root, CODES_PAGE), 'utf8')).toBe(codesReference());
});

test('every code has its row', () => {
  const page = codesReference();

  const codes = [...[RESULT_CODES, FINDING_CODES, CONDITION_REASONS, EVENT_REASONS]].flatMap(
    Object.keys,
  );
  expect(codes.filter((code) => !page.includes(`\n| \`${code}\` | `))).toEqual([]);
});

test('no action has an open place, and no code is in two groups', () => {
  expect(codesReference()).not.toMatch(/\{\w+\}/);
  const grouped = FINDING_GROUPS.flatMap(([, entries]) => Object.keys(entries));
  expect(grouped.toSorted()).toEqual(Object.keys(FINDING_CODES).toSorted());
});

const described = { ...FINDING_CODES, ...CONDITION_REASONS, ...EVENT_REASONS };

test.each(Object.entries(described))('%s is described in full sentences', (code, entry) => {
  expect(code).toMatch(/^[A-Z][A-Za-z0-9]+$/);
  for (const text of [entry.meaning, entry.action]) expect(text).toMatch(FULL_SENTENCES);
});

test('every code of a finding is one that something says', async () => {
  const files = [...new Bun.Glob('src/**/*.ts').scanSync(root)].filter(
    (path) => !path.includes('.test.') && !path.includes('finding-codes'),
  );
  const texts = await Promise.all(files.map(async (path) => Bun.file(join(root, path)).text()));
  const all = texts.join('\n');

  const unsaid = Object.keys(FINDING_CODES).filter((code) => !all.includes(`'${code}'`));
  expect(unsaid).toEqual([]);
});
