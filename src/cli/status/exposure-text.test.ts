import { describe, expect, test } from 'bun:test';
import { exposureText } from './exposure-text.ts';
import { statusViewOf, type StatusView } from './status-view.ts';
import { objectOf } from '../../operator/testing/objects.ts';
import { condition, READY, SINCE } from '../testing/status-cluster.ts';

const OPTIONS = {
  screen: { hasColors: false, columns: 80 },
  now: new Date(SINCE),
  hasNamespaces: true,
};
const DOWN = { state: 'down', message: 'no leader', action: 'look at it' } as const;
const HOPS = ['dns', 'edge', 'sni', 'certificate', 'api', 'konnectivity', 'endpoints', 'proxies'];

/** Returns a status view with an Exposure where some hops fail; all others pass. */
function view(broken: readonly string[]): StatusView {
  const conditions = READY.conditions.slice(0, -1);
  const hops = HOPS.map((name) => ({
    name,
    state: 'Pass',
    reason: 'Passes',
    message: 'so',
    at: SINCE,
    ...(broken.includes(name) && {
      state: 'Fail',
      reason: `${name}-Fault`,
      message: 'one is not there',
      action: 'add it',
    }),
  }));
  const status = {
    ...READY,
    hops,
    conditions: [...conditions, condition('Ready', 'False', 'proxies-Fault', 'one is not there')],
  };
  const metadata = { name: 'red', namespace: 'tenants', generation: 1, creationTimestamp: SINCE };
  const exposures = [objectOf('Exposure', metadata, { spec: {}, status })];
  return statusViewOf({ edges: [], exposures, operator: DOWN });
}

function linesOf(rows?: number, broken = ['proxies']): readonly string[] {
  const shown = view(broken);
  const [exposure] = shown.exposures;
  return exposureText(exposure!, shown, { ...OPTIONS, rows })
    .trimEnd()
    .split('\n');
}

const PROBLEM = ['proxies-Fault (hop proxies, Ready)', '  one is not there', '  To do: add it'];
const OPERATOR = 'Operator: no leader; look at it';

describe('the problems of an Exposure', () => {
  test('are at the end of a text, next to the prompt', () => {
    expect(linesOf().slice(-5)).toEqual([...PROBLEM, '', OPERATOR]);
  });

  test.each([24, 60])('are at the top of a screen of %d rows', (rows) => {
    expect(linesOf(rows).slice(0, 5)).toEqual([OPERATOR, '', ...PROBLEM]);
  });
});

test('shows the first problem and the codes of all others if they do not fit', () => {
  const lines = linesOf(24, ['dns', 'edge', 'sni', 'certificate', 'api']);

  const seen = lines.slice(0, 23);
  expect(seen.slice(2, 5)).toEqual([
    'dns-Fault (hop dns)',
    '  one is not there',
    '  To do: add it',
  ]);
  expect(seen.filter((line) => /^\w+-Fault \(hop/.test(line))).toHaveLength(5);
  expect(seen.filter((line) => line.startsWith('  To do:')).length).toBeLessThan(5);
  expect(seen.join('\n')).toMatch(/^Exposure +tenants\/red$/m);
});

describe('passed conditions and hops', () => {
  test('are all shown if they fit', () => {
    const text = linesOf(60).join('\n');

    for (const hop of HOPS) expect(text).toMatch(new RegExp(`^${hop} `, 'm'));
  });

  test('are counted if they do not fit', () => {
    const lines = linesOf(24);

    expect(lines.length).toBeLessThanOrEqual(24);
    expect(lines).toContain('... and 6 conditions that are True');
    expect(lines).toContain('... and 7 hops that pass');
    expect(lines.join('\n')).toMatch(/^proxies +Fail/m);
  });
});
