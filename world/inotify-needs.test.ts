import { expect, test } from 'bun:test';
import { planWorld } from './spec.ts';
import { inotifyNeeded } from './inotify-needs.ts';

test('a world needs inotify instances for each control plane and each worker', () => {
  const plan = planWorld({ tenants: { a: {}, b: { workers: 2 } } });

  expect(inotifyNeeded(plan)).toBe(3 * 11 + 4 * 8);
});
