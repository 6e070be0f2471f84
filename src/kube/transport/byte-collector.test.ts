import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { ByteCollector } from './byte-collector.ts';

test('returns all bytes in order, or as many as the caller takes', () => {
  const pieces = fc.array(fc.uint8Array({ maxLength: 6000 }), { maxLength: 40 });
  fc.assert(
    fc.property(pieces, fc.nat(20_000), (all, limit) => {
      const collector = new ByteCollector();
      for (const piece of all) collector.add(piece);
      const expected = Buffer.concat(all);
      expect(collector.length).toBe(expected.length);

      expect(collector.take(limit)).toEqual(expected.subarray(0, limit));
      expect(collector.length).toBe(0);
      expect(collector.take()).toHaveLength(0);
    }),
    { numRuns: 50 },
  );
});

test('merges a million single bytes into few chunks', () => {
  const collector = new ByteCollector();
  for (let byte = 0; byte < 1_000_000; byte++) collector.add(Uint8Array.of(byte & 255));

  expect(collector.chunkCount).toBeLessThan(80);
  expect(collector.take()).toHaveLength(1_000_000);
});
