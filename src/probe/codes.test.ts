import { expect, test } from 'bun:test';
import { join } from 'node:path';
import { FULL_SENTENCES } from '../text/testing/full-sentences.ts';
import { HOP_CODES, HOPS, NODE_HOPS, SKIP_CODES, type CodeEntry } from './codes.ts';
import { hopResult } from './hop.ts';

const entries = Object.entries<CodeEntry>(HOP_CODES);

test('every hop can pass and can fail', () => {
  for (const hop of [...HOPS, ...NODE_HOPS]) {
    const states = entries.filter(([, entry]) => entry.hop === hop).map(([, { state }]) => state);
    expect([...new Set(states)].toSorted()).toEqual(['Fail', 'Pass']);
  }
});

test.each(entries)(
  '%s is described in full sentences',
  (code, { state, title, meaning, action }) => {
    expect(code).toMatch(/^[A-Z][A-Za-z0-9]+$/);
    expect(title).not.toEndWith('.');
    expect(meaning).toMatch(FULL_SENTENCES);
    if (state === 'Fail') expect(action).toBeString();
    if (action !== undefined) expect(action).toMatch(FULL_SENTENCES);
  },
);

test('an action has nothing open once the result is made', () => {
  const values = { host: 'h', edge: 'e' };

  const { action } = hopResult('DnsWrongAddress', 'target', 'message', values);

  expect(action).toBe(
    'Point the DNS record of h to e alone, or correct the addresses of the Edge.',
  );
});

test('every code is the result of some test', async () => {
  const texts = await Promise.all(
    [...new Bun.Glob('**/*.test.ts').scanSync(import.meta.dir)]
      .filter((path) => path !== 'codes.test.ts')
      .map(async (path) => Bun.file(join(import.meta.dir, path)).text()),
  );
  const seen = (code: string) => texts.some((text) => text.includes(`'${code}'`));

  const codes = [...Object.keys(HOP_CODES), ...Object.keys(SKIP_CODES)];
  expect(codes.filter((code) => !seen(code))).toEqual([]);
});
