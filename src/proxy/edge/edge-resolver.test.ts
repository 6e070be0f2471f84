import { expect, test } from 'bun:test';
import { ManualClock } from '../../clock/manual-clock.ts';
import { until } from '../../net/testing/peer.ts';
import { createLogger } from '../../telemetry/log.ts';
import { EdgeLoadBalancer } from './edge-load-balancer.ts';
import { EdgeResolver } from './edge-resolver.ts';

function resolver(host: string, answers: (readonly string[] | Error)[]) {
  const clock = new ManualClock();
  const loadBalancer = new EdgeLoadBalancer(clock);
  const lines: string[] = [];
  const log = createLogger({ write: (line) => lines.push(line) });
  let lookups = 0;
  const lookup = async () => {
    const answer = answers[Math.min(lookups++, answers.length - 1)]!;
    if (answer instanceof Error) throw answer;
    return answer;
  };
  const edge = [{ host, port: 443 }];
  const options = { targets: () => edge, loadBalancer, clock, log, lookup };
  const addresses = () => loadBalancer.all().map(String);
  return {
    clock,
    lines,
    addresses,
    resolver: new EdgeResolver(options),
    lookupCount: () => lookups,
  };
}

const NOT_FOUND = Object.assign(new Error('getaddrinfo ENOTFOUND'), { code: 'ENOTFOUND' });

test('uses all addresses of a name, of both families', async () => {
  const lab = resolver('edge.test', [['10.0.0.2', 'fd00::1', '10.0.0.1', '10.0.0.1']]);

  await lab.resolver.start();

  expect(lab.addresses()).toEqual(['10.0.0.1:443', '10.0.0.2:443', '[fd00::1]:443']);
});

test('does not look up IP addresses', async () => {
  const lab = resolver('203.0.113.10', [NOT_FOUND]);

  await lab.resolver.start();

  expect(lab.addresses()).toEqual(['203.0.113.10:443']);
  expect(lab.lookupCount()).toBe(0);
});

test('looks up again after thirty seconds, and uses the changed addresses', async () => {
  const lab = resolver('edge.test', [['10.0.0.1'], ['10.0.0.2']]);
  await lab.resolver.start();

  lab.clock.advance(29_000);
  expect(lab.lookupCount()).toBe(1);
  lab.clock.advance(1000);
  await until(() => lab.addresses()[0] === '10.0.0.2:443', 'the new address');

  expect(lab.lookupCount()).toBe(2);
});

test('looks up a name that is not found at the start until it is found', async () => {
  const lab = resolver('edge.test', [NOT_FOUND, NOT_FOUND, ['10.0.0.1']]);
  await lab.resolver.start();
  expect(lab.resolver.failure).toBe(
    'the addresses of edge.test cannot be resolved (getaddrinfo ENOTFOUND); no address is known yet',
  );

  lab.clock.advance(2000);
  await until(() => lab.lookupCount() === 2, 'the second lookup');
  await Bun.sleep(0);
  lab.clock.advance(2000);
  await until(() => lab.addresses().length === 1, 'an address');

  expect(lab.resolver.failure).toBeUndefined();
  expect(lab.lines.filter((line) => line.includes('"warn"'))).toHaveLength(1);
});

test.each<[string, readonly string[] | Error]>([
  ['the resolver fails', NOT_FOUND],
  ['the answer is empty', []],
])('keeps the last valid addresses when %s', async (_, badAnswer) => {
  const lab = resolver('edge.test', [['10.0.0.1'], badAnswer]);
  await lab.resolver.start();

  lab.clock.advance(30_000);
  await until(() => lab.resolver.failure !== undefined, 'the failure');

  expect(lab.addresses()).toEqual(['10.0.0.1:443']);
  expect(lab.resolver.failure).toContain('the previous addresses stay in use');
});

test('looks up sooner when the addresses do not answer, but not for each failed dial', async () => {
  const lab = resolver('edge.test', [['10.0.0.1']]);
  await lab.resolver.start();

  for (let dial = 0; dial < 100; dial++) lab.resolver.suspect();
  lab.clock.advance(1000);
  expect(lab.lookupCount()).toBe(1);
  lab.clock.advance(1000);

  expect(lab.lookupCount()).toBe(2);
});

test('resolves localhost with the system resolver', async () => {
  const clock = new ManualClock();
  const loadBalancer = new EdgeLoadBalancer(clock);
  const edge = { host: 'localhost', port: 443 };
  const log = createLogger({ write: () => {} });

  await new EdgeResolver({ targets: () => [edge], loadBalancer, clock, log }).start();

  const addresses = loadBalancer.all().map(({ address }) => address);
  expect(addresses.some((address) => address === '127.0.0.1' || address === '::1')).toBe(true);
});

test('uses the addresses of all targets, with the port of each', async () => {
  const clock = new ManualClock();
  const loadBalancer = new EdgeLoadBalancer(clock);
  const log = createLogger({ write: () => {} });
  const targets = [
    { host: '203.0.113.10', port: 443 },
    { host: 'edge.test', port: 8443 },
    { host: '2001:db8::10', port: 443 },
  ];
  const lookup = async () => Promise.resolve(['203.0.113.11', '203.0.113.10']);

  await new EdgeResolver({ targets: () => targets, loadBalancer, clock, log, lookup }).start();

  expect(loadBalancer.all().map(String)).toEqual([
    '203.0.113.10:443',
    '203.0.113.10:8443',
    '203.0.113.11:8443',
    '[2001:db8::10]:443',
  ]);
});

test('uses new targets immediately, after a pending lookup of the previous ones', async () => {
  const clock = new ManualClock();
  const loadBalancer = new EdgeLoadBalancer(clock);
  const log = createLogger({ write: () => {} });
  const pendingLookup = Promise.withResolvers<readonly string[]>();
  let targets = [{ host: 'edge.test', port: 443 }];
  const lookup = async () => pendingLookup.promise;
  const resolver = new EdgeResolver({ targets: () => targets, loadBalancer, clock, log, lookup });
  const started = resolver.start();

  targets = [{ host: '203.0.113.20', port: 443 }];
  const retargeted = resolver.retarget();
  pendingLookup.resolve(['203.0.113.10']);
  await Promise.all([started, retargeted]);

  expect(loadBalancer.all().map(String)).toEqual(['203.0.113.20:443']);
  clock.advance(60_000);
  expect(loadBalancer.all().map(String)).toEqual(['203.0.113.20:443']);
});
