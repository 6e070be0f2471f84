/** Why the gateway refuses a connection, in addition to the reasons of the engine, and which alert the client gets. */
import type { CountersLayout } from '../engine/counters.ts';
import { ALERT_RECORDS } from '../wire/alert.ts';
import {
  alertFor,
  HELLO_REFUSALS,
  PROXY_REFUSALS,
  TENANT_REFUSALS,
  type HelloRefusal,
} from '../wire/outcome.ts';

/** Reasons that are known per route and counted for the route as well. */
export const ROUTE_REASONS = {
  no_endpoint: 'the route has no endpoint, or no endpoint could be dialed',
  tenant_connections_limit: 'the maximum number of open connections of the route was reached',
  source_not_allowed: 'the client is not in an allowed network of the route',
  tenant_rate_limit: 'the maximum number of new connections per second of the route was reached',
  ...TENANT_REFUSALS,
} as const satisfies Record<string, string>;

const HELLO_MEANINGS = Object.fromEntries(
  Object.entries(HELLO_REFUSALS).map(([code, { meaning }]) => [code, meaning]),
) as Record<HelloRefusal, string>;

/** Reasons for refusals before a route is known. */
export const UNROUTED_REASONS = {
  name_absent: 'the client sent no server name',
  name_unknown: 'no route has this host',
  proxy_header_missing: 'no PROXY header from a source for which --proxy-protocol requires one',
  proxy_header_not_allowed:
    'an unsigned PROXY header from a source for which --proxy-protocol allows none',
  replay_guard_full: 'not a failure: the replay cache was full and dropped its older half early',
  ...PROXY_REFUSALS,
  ...HELLO_MEANINGS,
} as const satisfies Record<string, string>;

/** A reason that the gateway defines. */
export type GatewayReason = keyof typeof ROUTE_REASONS | keyof typeof UNROUTED_REASONS;

/** The codes of all reasons that the gateway defines. */
export const GATEWAY_REASON_CODES = [
  ...Object.keys(ROUTE_REASONS),
  ...Object.keys(UNROUTED_REASONS),
] as readonly GatewayReason[];

/** Returns the layout of the counters of every thread. */
export function countersLayout(slots: number): Required<CountersLayout> {
  return {
    slots,
    slotReasons: Object.keys(ROUTE_REASONS),
    otherReasons: Object.keys(UNROUTED_REASONS),
  };
}

/** Returns the alert for a refused hello, or undefined if the client would not understand an alert. */
export function answerTo(refusal: HelloRefusal): Uint8Array | undefined {
  const alert = alertFor(refusal);
  return alert === undefined ? undefined : ALERT_RECORDS[alert];
}
