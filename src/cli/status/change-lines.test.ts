import { expect, test } from 'bun:test';
import { ChangeLines } from './change-lines.ts';
import type { ExposureView, StatusView } from './status-view.ts';

function situation(ready: ExposureView['ready'], message = 'so', names = ['blue']): StatusView {
  return {
    edges: [],
    exposures: names.map((name) => ({
      key: `tenants/${name}`,
      name,
      namespace: 'tenants',
      conditions: [],
      hops: [],
      ready,
      reason: 'Reason',
      message,
    })),
  };
}

test('returns each change once: new objects and deleted objects', () => {
  const lines = new ChangeLines();

  expect(lines.next(situation('True'))).toEqual(['Exposure tenants/blue: Ready=True']);
  expect(lines.next(situation('True'))).toEqual([]);
  expect(lines.next(situation('False'))).toEqual([
    'Exposure tenants/blue: Ready=False: Reason: so',
  ]);
  expect(lines.next(situation('False', 'so', []))).toEqual(['Exposure tenants/blue: deleted']);
});

test('reports a broken path of a Ready Exposure', () => {
  const [exposure] = situation('True').exposures;
  const lastTransitionTime = '2026-03-02T08:00:00Z';
  const claim = { status: 'False', reason: 'EdgeUnreachable', message: 'silent' } as const;
  const conditions = [{ type: 'Reachable', ...claim, lastTransitionTime }];

  const lines = new ChangeLines().next({ exposures: [{ ...exposure!, conditions }] });

  expect(lines).toEqual([
    'Exposure tenants/blue: Ready=True, Reachable=False: EdgeUnreachable: silent',
  ]);
});

test('reports that the source does not answer, and that it answers again', () => {
  const lines = new ChangeLines();
  lines.next(situation('True'));

  expect(lines.next(situation('True'), 'refused')).toEqual(['Status outdated: refused']);
  expect(lines.next(situation('True'))).toEqual(['Status current again']);
});

test('keeps messages of other programs on one line', () => {
  const [line] = new ChangeLines().next(situation('False', 'a\nb\u001B[2J'));

  expect(line).toBe('Exposure tenants/blue: Ready=False: Reason: a b [2J');
});
