import { expect, test } from 'bun:test';
import { ManualClock } from '../../clock/manual-clock.ts';
import { EdgeLoadBalancer } from './edge-load-balancer.ts';

function createBalancer(...addresses: string[]) {
  const clock = new ManualClock();
  const balancer = new EdgeLoadBalancer(clock);
  balancer.replace(addresses.map((address) => ({ address, port: 443 })));
  const pick = (attempts = 0) => balancer.pick(attempts)?.address;
  const at = (address: string) => balancer.all().find((endpoint) => endpoint.address === address)!;
  return { clock, balancer, pick, at };
}

test('picks the endpoints in turn', () => {
  const { pick } = createBalancer('10.0.0.1', '10.0.0.2', 'fd00::3');

  expect([pick(), pick(), pick(), pick()]).toEqual(['10.0.0.1', '10.0.0.2', 'fd00::3', '10.0.0.1']);
});

test('skips a failed endpoint until its back-off is over', () => {
  const { clock, balancer, pick, at } = createBalancer('10.0.0.1', '10.0.0.2');

  balancer.failed(at('10.0.0.1'), false);
  expect([pick(), pick(), pick()]).toEqual(['10.0.0.2', '10.0.0.2', '10.0.0.2']);
  clock.advance(1001);

  expect(new Set([pick(), pick()])).toEqual(new Set(['10.0.0.1', '10.0.0.2']));
});

test('doubles the back-off after each failure, up to fifteen seconds', () => {
  const { clock, balancer, pick, at } = createBalancer('10.0.0.1', '10.0.0.2');
  const backoffsMs: number[] = [];

  for (let round = 0; round < 6; round++) {
    balancer.failed(at('10.0.0.1'), false);
    let backoffMs = 0;
    while (pick() !== '10.0.0.1' && pick() !== '10.0.0.1') {
      clock.advance(500);
      backoffMs += 500;
    }
    backoffsMs.push(backoffMs);
  }

  expect(backoffsMs).toEqual([1000, 2000, 4000, 8000, 15_000, 15_000]);
});

test('resets the back-off of an endpoint that answers', () => {
  const { balancer, pick, at } = createBalancer('10.0.0.1', '10.0.0.2');

  balancer.failed(at('10.0.0.1'), true);
  balancer.succeeded(at('10.0.0.1'));

  expect(new Set([pick(), pick()])).toEqual(new Set(['10.0.0.1', '10.0.0.2']));
});

test('picks an endpoint that refused if all back off, because dialing it is cheap', () => {
  const { balancer, pick, at } = createBalancer('10.0.0.1');

  balancer.failed(at('10.0.0.1'), false);

  expect(pick()).toBe('10.0.0.1');
});

test('does not pick an endpoint that timed out if all back off', () => {
  const { balancer, pick, at } = createBalancer('10.0.0.1');

  balancer.failed(at('10.0.0.1'), true);

  expect(pick()).toBeUndefined();
});

test('picks an endpoint that timed out for only one connection after its back-off', () => {
  const { clock, balancer, pick, at } = createBalancer('10.0.0.1');
  balancer.failed(at('10.0.0.1'), true);

  clock.advance(1001);

  expect([pick(), pick(), pick()]).toEqual(['10.0.0.1', undefined, undefined]);
});

test('picks at most as many endpoints per connection as there are addresses', () => {
  const { pick } = createBalancer('10.0.0.1', '10.0.0.2');

  expect(pick(1)).toBeDefined();
  expect(pick(2)).toBeUndefined();
  expect(createBalancer().pick()).toBeUndefined();
});

test('keeps the state of an unchanged address when the list changes', () => {
  const { balancer, pick, at } = createBalancer('10.0.0.1', '10.0.0.2');
  balancer.failed(at('10.0.0.1'), false);
  const endpoint = at('10.0.0.1');

  balancer.replace(['10.0.0.1', '10.0.0.3'].map((address) => ({ address, port: 443 })));

  expect(at('10.0.0.1')).toBe(endpoint);
  expect([pick(), pick()]).toEqual(['10.0.0.3', '10.0.0.3']);
});
