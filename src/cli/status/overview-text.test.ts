import { describe, expect, test } from 'bun:test';
import { overviewText } from './overview-text.ts';
import type { EdgeView, ExposureView, StatusView } from './status-view.ts';

const OPTIONS = { screen: { hasColors: false }, now: new Date(), hasNamespaces: false };
const RUNNING = { state: 'running', message: 'pod-1 leads' } as const;
const DOWN = { state: 'down', message: 'no leader', action: 'look at it' } as const;

function exposure(name: string, ready: ExposureView['ready']): ExposureView {
  return {
    key: `tenants/${name}`,
    name,
    namespace: 'tenants',
    conditions: [],
    hops: [],
    ready,
    reason: 'Reason',
    message: 'so',
  };
}

function edge(name: string, ready: EdgeView['ready']): EdgeView {
  return {
    name,
    driver: 'snicket',
    addresses: [],
    conditions: [],
    ready,
    reason: 'Reason',
    message: 'so',
  };
}

function many<T>(count: number, make: (name: string) => T): readonly T[] {
  return Array.from({ length: count }, (_, at) => make(`n${at}`));
}

function linesOf(view: StatusView, rows?: number): readonly string[] {
  return overviewText(view, { ...OPTIONS, rows })
    .trimEnd()
    .split('\n');
}

describe('Exposures', () => {
  const exposures = [exposure('a', 'True'), exposure('b', 'False'), exposure('c', 'Unknown')];

  test.each([
    ['by name', undefined, ['a', 'b', 'c']],
    ['by name if all fit', 6, ['a', 'b', 'c']],
    ['those that need attention first if not all fit', 5, ['b', 'c', 'a']],
  ])('are listed %s', (_, rows, names) => {
    const text = linesOf({ edges: [], exposures }, rows).join('\n');

    expect([...text.matchAll(/^([abc]) /gm)].map(([, name = '']) => name)).toEqual(names);
  });
});

describe('on a screen that is redrawn,', () => {
  test('an operator that is down and errors in the folder are at the top', () => {
    const view = { edges: [edge('shared', 'True')], exposures: [], faults: ['a.yaml:1: no'] };

    const lines = linesOf({ ...view, operator: DOWN }, 24);

    expect(lines.slice(0, 4)).toEqual([
      ...['snicket run: no leader; look at it', '', 'Errors in the folder:', '  a.yaml:1: no'],
    ]);
  });

  test('a running operator is at the bottom, as without a screen', () => {
    const view = { edges: [], exposures: [], operator: RUNNING };

    expect(linesOf(view, 24).at(-1)).toBe('Operator: pod-1 leads');
    expect(linesOf({ ...view, operator: DOWN }).at(-1)).toBe('Operator: no leader; look at it');
  });

  test('problems are visible, however many Edges, Exposures and files there are', () => {
    const view = {
      edges: [...many(30, (name) => edge(name, 'True')), edge('bad-edge', 'False')],
      exposures: [...many(100, (name) => exposure(name, 'True')), exposure('bad', 'False')],
      faults: many(30, (name) => `${name}.yaml:1: no`),
      operator: DOWN,
    };

    const seen = linesOf(view, 24).slice(0, 23).join('\n');

    expect(seen).toStartWith('snicket run: no leader');
    expect(seen).toContain('  ... and 27 more\n');
    expect(seen).toMatch(/^bad-edge .*False/m);
    expect(seen).toContain('... and 28 more that are Ready\n');
    expect(seen).toMatch(/^bad .*False/m);
  });
});

test('says that there are no Edges and no Exposures', () => {
  expect(overviewText({ edges: [], exposures: [] }, OPTIONS)).toBe(
    'No Edges.\n\nNo Exposures found in this namespace; to include all namespaces: -A\n',
  );
});
