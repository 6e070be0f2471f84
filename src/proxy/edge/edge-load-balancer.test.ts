import { expect, test } from 'bun:test';
import { ManualClock } from '../../clock/manual-clock.ts';
import { EdgeLoadBalancer } from './edge-load-balancer.ts';

function loadBalancer(...addresses: string[]) {
  const clock = new ManualClock();
  const edge = new EdgeLoadBalancer(clock);
  edge.replace(addresses.map((address) => ({ address, port: 443 })));
  const pick = (attempts = 0) => edge.pick(attempts)?.address;
  const at = (address: string) => edge.all().find((endpoint) => endpoint.address === address)!;
  return { clock, edge, pick, at };
}

test('takes turns', () => {
  const { pick } = loadBalancer('10.0.0.1', '10.0.0.2', 'fd00::3');

  expect([pick(), pick(), pick(), pick()]).toEqual(['10.0.0.1', '10.0.0.2', 'fd00::3', '10.0.0.1']);
});

test('one that failed is left out, until it has rested', () => {
  const { clock, edge, pick, at } = loadBalancer('10.0.0.1', '10.0.0.2');

  edge.failed(at('10.0.0.1'), false);
  expect([pick(), pick(), pick()]).toEqual(['10.0.0.2', '10.0.0.2', '10.0.0.2']);
  clock.advance(1001);

  expect(new Set([pick(), pick()])).toEqual(new Set(['10.0.0.1', '10.0.0.2']));
});

test('rests twice as long after each failure, up to fifteen seconds', () => {
  const { clock, edge, pick, at } = loadBalancer('10.0.0.1', '10.0.0.2');
  const rests: number[] = [];

  for (let round = 0; round < 6; round++) {
    edge.failed(at('10.0.0.1'), false);
    let backoffMs = 0;
    while (pick() !== '10.0.0.1' && pick() !== '10.0.0.1') {
      clock.advance(500);
      backoffMs += 500;
    }
    rests.push(backoffMs);
  }

  expect(rests).toEqual([1000, 2000, 4000, 8000, 15_000, 15_000]);
});

test('one that answers is as good as new', () => {
  const { edge, pick, at } = loadBalancer('10.0.0.1', '10.0.0.2');

  edge.failed(at('10.0.0.1'), true);
  edge.succeeded(at('10.0.0.1'));

  expect(new Set([pick(), pick()])).toEqual(new Set(['10.0.0.1', '10.0.0.2']));
});

test('if all rest, one that refused is asked again: that costs nothing', () => {
  const { edge, pick, at } = loadBalancer('10.0.0.1');

  edge.failed(at('10.0.0.1'), false);

  expect(pick()).toBe('10.0.0.1');
});

test('if all rest, one that did not answer is not waited for again', () => {
  const { edge, pick, at } = loadBalancer('10.0.0.1');

  edge.failed(at('10.0.0.1'), true);

  expect(pick()).toBeUndefined();
});

test('after its rest a silent one is tried by a single connection', () => {
  const { clock, edge, pick, at } = loadBalancer('10.0.0.1');
  edge.failed(at('10.0.0.1'), true);

  clock.advance(1001);

  expect([pick(), pick(), pick()]).toEqual(['10.0.0.1', undefined, undefined]);
});

test('a connection tries no more often than there are addresses', () => {
  const { pick } = loadBalancer('10.0.0.1', '10.0.0.2');

  expect(pick(1)).toBeDefined();
  expect(pick(2)).toBeUndefined();
  expect(loadBalancer().pick()).toBeUndefined();
});

test('a new list keeps what is known of an address that stays', () => {
  const { edge, pick, at } = loadBalancer('10.0.0.1', '10.0.0.2');
  edge.failed(at('10.0.0.1'), false);
  const kept = at('10.0.0.1');

  edge.replace(['10.0.0.1', '10.0.0.3'].map((address) => ({ address, port: 443 })));

  expect(at('10.0.0.1')).toBe(kept);
  expect([pick(), pick()]).toEqual(['10.0.0.3', '10.0.0.3']);
});
