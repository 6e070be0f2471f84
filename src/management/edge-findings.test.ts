import { expect, test } from 'bun:test';
import { edgeNotFound } from './edge-findings.ts';

test('the name of an Edge in an annotation is reported in one short line', () => {
  const { message } = edgeNotFound(`a\u001b[2J\u202e\n${'b'.repeat(5_000)}`, {
    annotated: undefined,
    names: ['shared'],
  });

  expect(message).toMatch(/^Edge a \[2J b+… does not exist\.$/);
  expect(message.length).toBeLessThan(400);
});
