import { expect, test } from 'bun:test';
import { overviewText } from './status-text.ts';
import type { ExposureView } from './situation.ts';

const OPTIONS = { screen: { hasColours: false }, now: new Date(), hasNamespaces: false };

function exposure(name: string, ready: ExposureView['ready']): ExposureView {
  return {
    ...{ key: `tenants/${name}`, name, namespace: 'tenants', conditions: [], hops: [] },
    ...{ ready, reason: 'Reason', message: 'so' },
  };
}

function namesIn(rows: number | undefined): readonly string[] {
  const exposures = [exposure('a', 'True'), exposure('b', 'False'), exposure('c', 'Unknown')];
  const text = overviewText({ edges: [], exposures }, { ...OPTIONS, rows });
  return [...text.matchAll(/^([abc]) /gm)].map(([, name = '']) => name);
}

test('Exposures are by name, and those that need somebody first where not all can be seen', () => {
  expect(namesIn(undefined)).toEqual(['a', 'b', 'c']);
  expect(namesIn(3)).toEqual(['a', 'b', 'c']);
  expect(namesIn(2)).toEqual(['b', 'c', 'a']);
});

test('says so where there is nothing', () => {
  expect(overviewText({ edges: [], exposures: [] }, OPTIONS)).toBe(
    'No Edges.\n\nNo Exposures in this namespace; -A means all.\n',
  );
});
