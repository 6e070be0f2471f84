import { expect, test } from 'bun:test';
import { ManualClock } from '../../clock/manual-clock.ts';
import { Counters } from '../../engine/counters.ts';
import { REASON } from '../../engine/reasons.ts';
import { Decision } from '../../engine/decision.ts';
import { addressPair } from '../../wire/address-pair.ts';
import { readAlert } from '../../wire/alert.ts';
import { hello } from '../../wire/hello/hello-builder.ts';
import { countersLayout } from '../reasons.ts';
import { GatewayRouter } from './gateway-router.ts';
import { RateLimit } from './rate-limit.ts';
import { RouteIndex } from './route-index.ts';

const HELLO = hello({ serverName: 'a.test' });

/** Returns a router with one route of two endpoints, after it has routed the hello of a client. */
function router(counters = new Counters(countersLayout(1))) {
  const routes = new RouteIndex({ connections: 0, connectionsPerSecond: 0 });
  const endpoints = ['10.0.0.1:1', '10.0.0.1:2'];
  const route = { tenant: 'a', host: 'a.test', kind: 'api', endpoints, limits: {} } as const;
  routes.apply({ set: [{ slot: 0, route }], removed: [] });
  const clock = new ManualClock();
  const gatewayRouter = new GatewayRouter({
    routes,
    verifier: () => undefined,
    counters,
    allValues: [counters.values],
    rates: new RateLimit(1),
    proxyProtocol: 'none',
    maxConnections: 10,
    clock,
  });
  const addresses = addressPair('10.0.0.9', 4711, '10.0.0.1', 443);
  const connection = { remoteAddress: '10.0.0.9', remotePort: 4711, addresses, note: 0 };
  const decision = new Decision();
  gatewayRouter.route(HELLO, HELLO.length, connection, decision);
  const fail = (reason: number) => {
    const dial = { endpoint: decision.endpoint!, slot: 0, attempt: 1, reason, elapsedMs: 0 };
    gatewayRouter.failed(dial, connection, decision);
  };
  const unavailable = () => routes.at(0)!.loadBalancer.unavailableCount(clock.nowMs());
  return { decision, fail, unavailable, counters };
}

test('backs off from an endpoint that refused, and dials the next', () => {
  const { decision, fail, unavailable } = router();
  const first = decision.endpoint;

  fail(REASON.dial_refused);

  expect(decision.kind).toBe('dial');
  expect(decision.endpoint).not.toBe(first);
  expect(unavailable()).toBe(1);
});

test('refuses without back-off if the process itself is out of descriptors', () => {
  const { decision, fail, unavailable, counters } = router();

  fail(REASON.dial_no_resources);

  expect(decision).toMatchObject({ kind: 'refuse', reason: counters.reason('no_endpoint') });
  expect(readAlert(Buffer.from(decision.answer))?.name).toBe('internal_error');
  expect(unavailable()).toBe(0);
});

test('throws if the counters lack one of its reasons', () => {
  const { otherReasons, ...layout } = countersLayout(1);
  const counters = new Counters({ ...layout, otherReasons: otherReasons.slice(1) });

  expect(() => router(counters)).toThrow(`'${otherReasons[0]}' is not among the reasons`);
});
