import { expect, test } from 'bun:test';
import { ChangeLines } from './change-lines.ts';
import type { ExposureView, StatusView } from './status-view.ts';

function view(ready: ExposureView['ready'], message = 'so', names = ['blue']): StatusView {
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

  expect(lines.next(view('True'))).toEqual(['Exposure tenants/blue: Ready=True']);
  expect(lines.next(view('True'))).toEqual([]);
  expect(lines.next(view('False'))).toEqual(['Exposure tenants/blue: Ready=False: Reason: so']);
  expect(lines.next(view('False', 'so', []))).toEqual(['Exposure tenants/blue: deleted']);
});

test('reports a broken path of a Ready Exposure', () => {
  const [exposure] = view('True').exposures;
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
  lines.next(view('True'));

  expect(lines.next(view('True'), 'refused')).toEqual(['Status outdated: refused']);
  expect(lines.next(view('True'))).toEqual(['Status current again']);
});

test('keeps messages of other programs on one line', () => {
  const [line] = new ChangeLines().next(view('False', 'a\nb\u001B[2J'));

  expect(line).toBe('Exposure tenants/blue: Ready=False: Reason: a b [2J');
});
