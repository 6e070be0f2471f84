import { expect, test } from 'bun:test';
import { selectorText, selects } from './label-selector.ts';

const LABELS = { team: 'a', tier: 'gold' };

test.each([
  [{}, true],
  [{ matchLabels: { team: 'a' } }, true],
  [{ matchLabels: { team: 'b' } }, false],
  [{ matchLabels: { team: 'a', zone: 'x' } }, false],
  [{ matchExpressions: [{ key: 'tier', operator: 'In', values: ['gold', 'iron'] }] }, true],
  [{ matchExpressions: [{ key: 'tier', operator: 'NotIn', values: ['gold'] }] }, false],
  [{ matchExpressions: [{ key: 'zone', operator: 'NotIn', values: ['x'] }] }, true],
  [{ matchExpressions: [{ key: 'zone', operator: 'Exists' }] }, false],
  [{ matchExpressions: [{ key: 'zone', operator: 'DoesNotExist' }] }, true],
  [{ matchExpressions: [{ key: 'tier', operator: 'Newer' }] }, false],
])('%j matches the labels: %p', (selector, isSelected) => {
  expect(selects(selector, LABELS)).toBe(isSelected);
});

test('a selector is printed as kubectl prints it', () => {
  const matchExpressions = [
    { key: 'tier', operator: 'In', values: ['x', 'y'] },
    { key: 'zone', operator: 'NotIn', values: ['z'] },
    { key: 'kept', operator: 'Exists' },
    { key: 'retired', operator: 'DoesNotExist' },
  ];

  expect(selectorText({ matchLabels: { team: 'a' }, matchExpressions })).toBe(
    'team=a,tier in (x,y),zone notin (z),kept,!retired',
  );
});
