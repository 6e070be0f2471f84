import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { isIPv4 } from '../wire/ip-address.ts';
import { healthAddress } from './health.ts';

test('is a loopback address that no other program uses', () => {
  fc.assert(
    fc.property(fc.string(), (revision) => {
      const address = healthAddress(revision);

      expect(isIPv4(address)).toBe(true);
      expect(address).toMatch(/^127\.(?!0\.)\d+\.\d+\.(?!0$|255$)\d+$/);
    }),
  );
});

test('differs between revisions', () => {
  const addresses = Array.from({ length: 100 }, (_, revision) => healthAddress({ revision }));

  expect(new Set(addresses).size).toBe(100);
});

test('accepts connections without configuration', async () => {
  const host = healthAddress('a revision');
  using server = Bun.serve({ hostname: host, port: 0, fetch: () => new Response('here') });

  const answer = await fetch(`http://${host}:${server.port}/`);

  expect(await answer.text()).toBe('here');
});
