/**
 * Reason codes of the engine: why a connection ended or a dial failed. The codes of the router follow them.
 *
 * Codes never change: they are metric labels and log fields, in snake_case like those of `wire/outcome.ts`. Engines
 * pass a reason as its index in one list, because a number fits a typed array and indexes a counter.
 */

/** The reason codes of the engine and their meanings. The first one is not a failure. */
export const ENGINE_REASONS = {
  completed: 'both sides ended normally',
  client_reset: 'the client reset the connection',
  upstream_reset: 'the upstream reset the connection',
  hello_timeout: 'the first bytes were not complete in time',
  hello_incomplete: 'the client closed the connection before its first bytes were complete',
  first_bytes_too_long: 'the first bytes reached the maximum length without naming an upstream',
  connections_limit: 'the maximum number of connections was open',
  descriptors_limit: 'the process was almost out of file descriptors',
  hellos_limit: 'the maximum number of incomplete hellos was reached',
  source_limit: 'the maximum number of incomplete hellos from one address was reached',
  buffered_bytes_limit: 'the maximum number of buffered bytes was reached',
  dial_refused: 'the endpoint refused the connection',
  dial_timeout: 'the endpoint did not answer in time',
  dial_unreachable: 'the endpoint is unreachable',
  dial_no_resources: 'the process had no file descriptors, ports or memory for a dial',
  dial_failed: 'the dial failed for another reason',
  drained: 'closed by a drain',
  stopped: 'the engine was stopped',
  fault: 'a bug in the router or the engine; see the log',
} as const satisfies Record<string, string>;

/** A code of {@link ENGINE_REASONS}. */
export type EngineReason = keyof typeof ENGINE_REASONS;

/** The codes, in order. */
export const ENGINE_REASON_CODES = Object.keys(ENGINE_REASONS) as readonly EngineReason[];

/** The number of each code. */
export const REASON = Object.fromEntries(
  ENGINE_REASON_CODES.map((code, number) => [code, number]),
) as Readonly<Record<EngineReason, number>>;
