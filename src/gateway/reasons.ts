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
  no_endpoint: 'the route has no endpoint, or none of them could be dialed',
  tenant_connections_limit: 'the route has as many open connections as it may',
  source_not_allowed: 'the client is not in a network that the route allows',
  tenant_rate_limit: 'the route had as many new connections in this second as it may',
  ...TENANT_REFUSALS,
} as const satisfies Record<string, string>;

const HELLO_MEANINGS = Object.fromEntries(
  Object.entries(HELLO_REFUSALS).map(([code, { meaning }]) => [code, meaning]),
) as Record<HelloRefusal, string>;

/** Reasons for refusals before a route is known. */
export const STRANGER_REASONS = {
  name_absent: 'the client named no host',
  name_unknown: 'no route has that host',
  proxy_header_missing: 'no PROXY header, from where --proxy-protocol wants one',
  proxy_header_not_allowed: 'an unsigned PROXY header, from where --proxy-protocol allows none',
  replay_guard_full:
    'no failure: so many signed headers came that the older half is forgotten early',
  ...PROXY_REFUSALS,
  ...HELLO_MEANINGS,
} as const satisfies Record<string, string>;

/** A reason that the gateway defines. */
export type GatewayReason = keyof typeof ROUTE_REASONS | keyof typeof STRANGER_REASONS;

/** The codes of all reasons that the gateway defines. */
export const GATEWAY_REASON_CODES = [
  ...Object.keys(ROUTE_REASONS),
  ...Object.keys(STRANGER_REASONS),
] as readonly GatewayReason[];

/** Returns the layout of the counters of every thread. */
export function countersLayout(slots: number): Required<CountersLayout> {
  return {
    slots,
    slotReasons: Object.keys(ROUTE_REASONS),
    otherReasons: Object.keys(STRANGER_REASONS),
  };
}

/** Returns the alert for a refused hello, or undefined if the client would not understand an alert. */
export function answerTo(refusal: HelloRefusal): Uint8Array | undefined {
  const alert = alertFor(refusal);
  return alert === undefined ? undefined : ALERT_RECORDS[alert];
}
