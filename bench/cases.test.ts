import { describe, expect, test } from 'bun:test';
import { costOf, isChosen } from './cases.ts';

describe('the cost of a load', () => {
  const counted = { processorNs: 2_000_000, completed: 10, bytes: 4_000_000 };

  test('is in microseconds per connection or request', () => {
    expect(costOf('connect', counted)).toBe(200);
    expect(costOf('request', counted)).toBe(200);
  });

  test('is in seconds per 10^9 bytes of bulk, up or down', () => {
    expect(costOf('download', counted)).toBe(0.5);
    expect(costOf('upload', counted)).toBe(0.5);
  });
});

describe('a case filter', () => {
  test('matches if the name contains all its words', () => {
    expect(isChosen('gateway.plain.connect', 'connect')).toBe(true);
    expect(isChosen('gateway.plain.connect', 'gateway.connect')).toBe(true);
    expect(isChosen('gateway.plain.connect', 'gateway.tls')).toBe(false);
  });

  test('does not match a part of a word', () => {
    expect(isChosen('gateway.plain.connect', 'gate')).toBe(false);
  });
});
