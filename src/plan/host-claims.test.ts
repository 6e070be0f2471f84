import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { keyText } from '../kube/object.ts';
import { hostHolders, type HostClaim } from './conflicts.ts';
import { HostClaims } from './host-claims.ts';
import { exposure } from './testing/wishes.ts';

const HOSTS = ['a.example.com', 'b.example.com', 'c.example.com', 'd.example.com'];
const host = fc.constantFrom(...HOSTS);

/** Of few Exposures that all want the same few hosts. */
const claim: fc.Arbitrary<HostClaim> = fc
  .record({
    name: fc.constantFrom('one', 'two', 'three'),
    day: fc.integer({ min: 1, max: 3 }),
    api: fc.option(host, { nil: undefined }),
    konnectivity: fc.option(host, { nil: undefined }),
    routed: fc.option(host, { nil: undefined }),
  })
  .map(({ name, day, api, konnectivity, routed }) => ({
    exposure: {
      metadata: {
        ...exposure({}, { name }).metadata,
        creationTimestamp: `2026-03-0${day}T10:00:00Z`,
      },
      ...(routed !== undefined && {
        status: { route: { api: { host: routed, service: name, port: 6443 } } },
      }),
    },
    ...(api !== undefined && { hosts: { api, konnectivity } }),
  }));

test('however claims come and go, the holders are those of all claims that there are', () => {
  const step = fc.record({ claim, isGone: fc.boolean() });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 12 }), (steps) => {
      const claims = new HostClaims();
      const expected = new Map<string, HostClaim>();

      for (const { claim: one, isGone } of steps) {
        const key = keyText(one.exposure.metadata);
        if (isGone) {
          claims.remove(key);
          expected.delete(key);
        } else {
          claims.put(one);
          expected.set(key, one);
        }
      }

      const holders = hostHolders([...expected.values()]);
      for (const each of HOSTS) expect(claims.get(each)).toBe(holders.get(each) as never);
    }),
  );
});

test('a host that nobody claims any more has no holder', () => {
  const claims = new HostClaims();
  const { metadata } = exposure({}, { name: 'one' });

  claims.put({ exposure: { metadata }, hosts: { api: 'a.example.com' } });
  claims.put({ exposure: { metadata }, hosts: { api: 'b.example.com' } });

  expect(claims.get('a.example.com')).toBeUndefined();
  expect(claims.get('b.example.com')?.exposure.metadata.name).toBe('one');
});
