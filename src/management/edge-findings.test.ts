import { expect, test } from 'bun:test';
import { edgeNotFound } from './edge-findings.ts';

test('an Edge of whatever name an annotation has is told in one short line', () => {
  const { message } = edgeNotFound(`a\u001b[2J\u202e\n${'b'.repeat(5_000)}`, {
    ...{ askedBy: undefined, names: ['shared'] },
  });

  expect(message).toMatch(/^there is no Edge a \[2J b+…$/);
  expect(message.length).toBeLessThan(400);
});
