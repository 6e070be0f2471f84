import { expect, test } from 'bun:test';
import { sentence } from './sentence.ts';

test('adds a capital and a full stop', () => {
  expect(sentence('listener tls has protocol HTTP')).toBe('Listener tls has protocol HTTP.');
});

test('keeps the end of a sentence and of a truncated text', () => {
  expect(sentence('The controller rejects it: bad host.')).toBe(
    'The controller rejects it: bad host.',
  );
  expect(sentence('The controller rejects it: bad ho…')).toBe('The controller rejects it: bad ho…');
});
