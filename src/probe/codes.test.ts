import { expect, test } from 'bun:test';
import { join } from 'node:path';
import { FULL_SENTENCES } from '../text/testing/full-sentences.ts';
import {
  EVERYWHERE,
  HOPS,
  NODE_HOPS,
  RESULT_CODES,
  RESULT_GROUPS,
  type CodeEntry,
} from './codes.ts';
import { checkResult } from './edge-conformance/check-result.ts';
import { hopResult } from './hop.ts';

const entries = Object.entries<CodeEntry>(RESULT_CODES);

test('every hop and check can pass, every hop can fail', () => {
  const statesOf = (reporter: (typeof EVERYWHERE)[number]) =>
    entries.filter(([, { of }]) => of.includes(reporter)).map(([, { state }]) => state);

  for (const reporter of EVERYWHERE) expect(statesOf(reporter)).toContain('Pass');
  for (const hop of [...HOPS, ...NODE_HOPS]) expect(statesOf(hop)).toContain('Fail');
});

test.each(entries)('%s is described in full sentences', (code, { state, meaning, action }) => {
  expect(code).toMatch(/^[A-Z][A-Za-z0-9]+$/);
  expect(meaning).toMatch(FULL_SENTENCES);
  // A skipped check may have an action that makes it possible.
  if (state !== 'Skip') expect(action !== undefined).toBe(state === 'Fail' || state === 'Warn');
  if (action !== undefined) expect(action).toMatch(FULL_SENTENCES);
});

test('every code is in one group', () => {
  const grouped = RESULT_GROUPS.flatMap(([, group]) => Object.keys(group));

  expect(grouped.toSorted()).toEqual(Object.keys(RESULT_CODES).toSorted());
});

test('a result has no placeholders in its action', () => {
  const values = { host: 'h', edge: 'e' };

  const { action } = hopResult('dns', 'DnsWrongAddress', 'target', 'message', values);

  expect(action).toBe(
    'Point the DNS record of h to e alone, or correct the addresses of the Edge.',
  );
});

test('a hop with a warning passes with an action, a check has the state Warn', () => {
  const values = { host: 'h', edge: 'e' };

  expect(hopResult('dns', 'DnsMismatch', 'target', 'message', values).state).toBe('Pass');
  expect(checkResult('same-key', 'KeyChanges', 'message', { host: 'h' }).state).toBe('Warn');
});

test('a result has no control characters in its message', () => {
  const { message } = checkResult('same-key', 'Passed', 'red \u001B[31m\n alarm');

  expect(message).toBe('red [31m alarm');
});

test('every code is the result of some test', async () => {
  const texts = await Promise.all(
    [...new Bun.Glob('**/*.test.ts').scanSync(import.meta.dir)]
      .filter((path) => path !== 'codes.test.ts')
      .map(async (path) => Bun.file(join(import.meta.dir, path)).text()),
  );
  const seen = (code: string) => texts.some((text) => text.includes(`'${code}'`));

  expect(Object.keys(RESULT_CODES).filter((code) => !seen(code))).toEqual([]);
});
