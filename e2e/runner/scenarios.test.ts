import { expect, test } from 'bun:test';
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { findScenarios, testFile } from './scenarios.ts';

const folder = resolve(import.meta.dir, '..');
const all = findScenarios(folder);

test('every scenario is a test file', () => {
  expect(all.length).toBeGreaterThan(20);
  for (const scenario of all) expect(existsSync(testFile(folder, scenario))).toBe(true);
});

test('core scenarios come first, then optional scenarios in order of importance', () => {
  const firstOptional = all.findIndex(({ isOptional }) => isOptional);

  expect(all.slice(firstOptional).map(({ name }) => name)).toEqual([
    'providers-exposed',
    'providers',
    'edges',
    'envoy-edges',
  ]);
  expect(all[firstOptional - 1]?.name).toBe('clean-up');
});
