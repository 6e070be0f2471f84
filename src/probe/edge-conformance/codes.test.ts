import { expect, test } from 'bun:test';
import { join } from 'node:path';
import { FULL_SENTENCES } from '../../text/testing/full-sentences.ts';
import { HOP_CODES, SKIP_CODES } from '../codes.ts';
import { checkResult } from './check-result.ts';
import { EDGE_CHECKS, EDGE_CODES, EDGE_SKIP_CODES, type EdgeCodeEntry } from './codes.ts';

const entries = Object.entries<EdgeCodeEntry>(EDGE_CODES);
const codes = [...Object.keys(EDGE_CODES), ...Object.keys(EDGE_SKIP_CODES)];

test('every check has a code that passes', () => {
  for (const check of EDGE_CHECKS) {
    const states = entries.filter(([, entry]) => entry.check === check).map(([, one]) => one.state);
    expect(states).toContain('Pass');
  }
});

test.each(entries)(
  '%s is described in full sentences',
  (code, { state, title, meaning, action }) => {
    expect(code).toMatch(/^[A-Z][A-Za-z0-9]+$/);
    expect(title).not.toEndWith('.');
    expect(meaning).toMatch(FULL_SENTENCES);
    expect(typeof action).toBe(state === 'Pass' ? 'undefined' : 'string');
    if (action !== undefined) expect(action).toMatch(FULL_SENTENCES);
  },
);

test('no code is also a code of a hop', () => {
  const others = new Set([...Object.keys(HOP_CODES), ...Object.keys(SKIP_CODES)]);

  expect(codes.filter((code) => others.has(code))).toEqual([]);
});

test('a result has no placeholders in its action', () => {
  const { action } = checkResult('KeyChanges', 'message', { host: 'a.example.com' });

  expect(action).toBe('If a.example.com has one server, look for a second route that claims it.');
});

test('a result has no control characters in its message', () => {
  const { message } = checkResult('KeySame', 'red \u001B[31m\n alarm');

  expect(message).toBe('red [31m alarm');
});

test('every code that does not pass is covered by a test', async () => {
  const checks = await Array.fromAsync(new Bun.Glob('checks/*.test.ts').scan(import.meta.dir));
  const texts = await Promise.all(
    ['check-edge.test.ts', ...checks].map(async (file) =>
      Bun.file(join(import.meta.dir, file)).text(),
    ),
  );

  const bad = entries.filter(([, { state }]) => state !== 'Pass').map(([code]) => code);
  const unseen = [...bad, ...Object.keys(EDGE_SKIP_CODES)].filter(
    (code) => !texts.some((text) => text.includes(`'${code}'`)),
  );
  expect(unseen).toEqual([]);
});
