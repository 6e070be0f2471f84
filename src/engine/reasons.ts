/**
 * Reason codes of the engine: why a connection ended or a dial failed. The codes of the router follow them.
 *
 * Codes never change: they are metric labels and log fields, in snake_case like those of `wire/outcome.ts`. Engines
 * pass a reason as its index in one list, because a number fits a typed array and indexes a counter.
 */

/** The reason codes of the engine and their meanings. The first one is not a failure. */
export const ENGINE_REASONS = {
  completed: 'both sides said all they had to say',
  client_reset: 'the client reset the connection',
  upstream_reset: 'the upstream reset the connection',
  hello_timeout: 'the first bytes took longer than the limit',
  hello_incomplete: 'the client left in the middle of its first bytes',
  first_bytes_too_long: 'the first bytes reached the limit and still did not name an upstream',
  connections_limit: 'as many connections as allowed were open',
  descriptors_limit: 'the process has hardly any file descriptors left',
  hellos_limit: 'as many unfinished hellos as allowed were open',
  source_limit: 'as many unfinished hellos as allowed were open from that address',
  buffered_bytes_limit: 'as many bytes as allowed waited for slow readers and for dials',
  dial_refused: 'nobody listens at the endpoint',
  dial_timeout: 'the endpoint did not answer in time',
  dial_unreachable: 'there is no way to the endpoint',
  dial_no_resources: 'the process had no descriptors, ports or memory for a dial',
  dial_failed: 'the endpoint could not be dialed for another reason',
  drained: 'closed on purpose, to drain',
  stopped: 'the engine was stopped',
  fault: 'a bug: the router or the engine threw; the log has it',
} as const satisfies Record<string, string>;

/** A code of {@link ENGINE_REASONS}. */
export type EngineReason = keyof typeof ENGINE_REASONS;

/** The codes, in order. */
export const ENGINE_REASON_CODES = Object.keys(ENGINE_REASONS) as readonly EngineReason[];

/** The number of each code. */
export const REASON = Object.fromEntries(
  ENGINE_REASON_CODES.map((code, number) => [code, number]),
) as Readonly<Record<EngineReason, number>>;
