/**
 * Routes the connections of one thread: finds the tenant of a client, checks limits, and picks the next endpoint.
 *
 * This code runs for every new connection. It allocates only the host name, and for a signed header the data to verify
 * it. It reads the clock only if a limit or the back-off of an endpoint depends on it.
 */
import { systemClock, type Clock } from '../../clock/clock.ts';
import { COLUMN, GLOBAL, sumOver, type Counters } from '../../engine/counters.ts';
import type { ClientConnection, Dial, ClosedConnection, Router } from '../../engine/engine.ts';
import { ENGINE_REASON_CODES, REASON, type EngineReason } from '../../engine/reasons.ts';
import type { Decision } from '../../engine/decision.ts';
import { ALERT_RECORDS } from '../../wire/alert.ts';
import { ClientHello } from '../../wire/hello/client-hello.ts';
import type { HelloRefusal, TenantOutcome } from '../../wire/outcome.ts';
import type { ProxyHeader } from '../../wire/proxy-header.ts';
import { answerTo, GATEWAY_REASON_CODES, type GatewayReason } from '../reasons.ts';
import type { ConnectionLog } from './connection-log.ts';
import { Preamble, type PreambleRefusal } from './preamble.ts';
import type { RateLimit } from './rate-limit.ts';
import type { RouteEntry, RouteIndex } from './route-index.ts';
import type { TenantHeaderVerifier } from './tenant-header-verifier.ts';
import type { ProxyProtocol } from './trusted-sources.ts';

/** Dependencies of a thread's router. */
interface GatewayRouterOptions {
  readonly routes: RouteIndex;
  /** Returns undefined while there are no keys. The router then refuses every signed header. */
  readonly verifier: () => TenantHeaderVerifier | undefined;
  readonly counters: Counters;
  /** Counters of all threads including this one, because limits apply to all threads together. */
  readonly allValues: readonly Float64Array[];
  readonly rates: RateLimit;
  readonly proxyProtocol: ProxyProtocol;
  /** Maximum number of open connections over all threads. */
  readonly maxConnections: number;
  /** If absent, there is no access log. */
  readonly log?: ConnectionLog | undefined;
  /** Default: the system clock. */
  readonly clock?: Clock;
}

const HANDSHAKE_RECORD = 0x16;

/**
 * The note of a connection packs two values that the router needs after a failed dial: the number of bytes to drop, and
 * the endpoints that were tried.
 */
const DROP_BITS = 15;
const DROP_MASK = 2 ** DROP_BITS - 1;

/** The router of one thread. */
export class GatewayRouter implements Router {
  /** Undefined without an access log, so that engines do not read addresses. */
  readonly ended: ((closed: ClosedConnection) => void) | undefined;

  readonly #options: GatewayRouterOptions;
  readonly #routes: RouteIndex;
  readonly #counters: Counters;
  readonly #log: ConnectionLog | undefined;
  readonly #preamble: Preamble;
  readonly #hello = new ClientHello();
  readonly #reasons: ReasonNumbers;
  readonly #nowMs: () => number;

  /** @throws RangeError if the counters lack one of the gateway's reasons. */
  constructor(options: GatewayRouterOptions) {
    this.#options = options;
    this.#routes = options.routes;
    this.#counters = options.counters;
    this.#log = options.log;
    this.#preamble = new Preamble(options.proxyProtocol);
    this.#reasons = reasonNumbers(options.counters);
    const clock = options.clock ?? systemClock;
    this.#nowMs = () => clock.nowMs();
    const { log, routes, counters } = options;
    if (log !== undefined) {
      this.ended = (closed) => {
        log.ended(closed, routes.at(closed.slot), counters.reasons[closed.reason] ?? 'unknown');
      };
    }
  }

  route(bytes: Buffer, length: number, connection: ClientConnection, decision: Decision): void {
    const start = this.#preamble.read(bytes, length, connection);
    if (start === 'incomplete') return decision.more();
    if (typeof start !== 'number') {
      return this.#refusePreamble(start, bytes[0] === HANDSHAKE_RECORD, connection, decision);
    }
    if (this.#preamble.tenantHeader !== undefined) {
      return this.#routeSigned(bytes[start] === HANDSHAKE_RECORD, start, connection, decision);
    }

    const outcome = this.#hello.read(bytes, length, start);
    if (outcome === 'incomplete') return decision.more();
    if (outcome !== 'hello') return this.#refuseHello(outcome, connection, decision);
    const host = this.#hello.serverName;
    if (host === undefined) return this.#refuseName('name_absent', '', connection, decision);
    const entry = this.#routes.find(host);
    if (entry === undefined) return this.#refuseName('name_unknown', host, connection, decision);
    this.#admit(entry, start, connection, decision);
  }

  isSharedSource(address: string): boolean {
    return this.#preamble.isBalancer(address);
  }

  failed(dial: Dial, connection: ClientConnection, decision: Decision): void {
    // This process is out of resources. Another endpoint would fail too, and this one needs no back-off.
    if (dial.reason === REASON.dial_no_resources) {
      return decision.refuse(this.#reason('no_endpoint'), ALERT_RECORDS.internal_error);
    }
    const entry = this.#routes.at(dial.slot);
    const note = this.#log === undefined ? connection.note : this.#log.noteOf(connection.note);
    const failed = entry?.loadBalancer.failed(dial.endpoint, this.#nowMs()) ?? 0;
    const tried = (note >>> DROP_BITS) | failed;
    // An endpoint that was removed from its route has no bit in `tried`. The number of attempts still bounds the
    // search.
    const hasMore = entry !== undefined && dial.attempt < entry.loadBalancer.size;
    if (hasMore && this.#dialNext(entry, note & DROP_MASK, tried, connection, decision)) return;
    decision.refuse(this.#reason('no_endpoint'), ALERT_RECORDS.internal_error);
  }

  connected(dial: Dial): void {
    this.#routes.at(dial.slot)?.loadBalancer.succeeded(dial.endpoint);
  }

  /** Routes by the host in the signed header. The server name in the hello is only for the API server. */
  #routeSigned(
    isTls: boolean,
    start: number,
    connection: ClientConnection,
    decision: Decision,
  ): void {
    const header = this.#preamble.tenantHeader;
    if (header === undefined || !isTls) return this.#refuseHello('not_tls', connection, decision);
    const host = header.authority();
    if (host === undefined) {
      this.#log?.begin(connection, '', this.#preamble.client());
      return decision.refuse(this.#reason('tenant_unsigned'), ALERT_RECORDS.handshake_failure);
    }
    const entry = this.#routes.find(host);
    if (entry === undefined) return this.#refuseName('name_unknown', '', connection, decision);
    const outcome = this.#verify(header, entry);
    if (outcome === 'valid') {
      this.#preamble.isVerified = true;
      return this.#admit(entry, start, connection, decision);
    }
    this.#refuseEntry(entry, outcome, ALERT_RECORDS.handshake_failure, connection, decision);
  }

  #verify(header: ProxyHeader, entry: RouteEntry): TenantOutcome {
    const verifier = this.#options.verifier();
    if (verifier === undefined) return 'tenant_key_unknown';
    const { guardOverflows } = verifier;
    const outcome = verifier.verify(header, entry, Date.now() / 1000);
    if (verifier.guardOverflows > guardOverflows)
      this.#counters.fail(this.#reason('replay_guard_full'), -1);
    return outcome;
  }

  #admit(
    entry: RouteEntry,
    dropBytes: number,
    connection: ClientConnection,
    decision: Decision,
  ): void {
    if (entry.sources !== undefined && !entry.sources.has(this.#preamble.sourceOf(connection))) {
      const answer = ALERT_RECORDS.handshake_failure;
      return this.#refuseEntry(entry, 'source_not_allowed', answer, connection, decision);
    }
    const refusal = this.#overLimit(entry);
    if (refusal !== undefined) {
      return this.#refuseEntry(entry, refusal, ALERT_RECORDS.internal_error, connection, decision);
    }
    this.#log?.begin(connection, entry.host, this.#preamble.client(), entry);
    if (this.#dialNext(entry, dropBytes, 0, connection, decision)) return;
    // Before the first dial the engine knows no slot, so the router counts the failure.
    this.#counters.failSlot(this.#reason('no_endpoint'), this.#row(entry));
    decision.refuse(this.#reason('no_endpoint'), ALERT_RECORDS.internal_error);
  }

  /** Dials the next endpoint. Returns false if none is left. */
  #dialNext(
    entry: RouteEntry,
    dropBytes: number,
    tried: number,
    connection: ClientConnection,
    decision: Decision,
  ): boolean {
    const { loadBalancer } = entry;
    const endpoint = loadBalancer.at(loadBalancer.pick(tried, this.#nowMs));
    if (endpoint === undefined) return false;
    const note = (tried << DROP_BITS) | dropBytes;
    if (this.#log === undefined) connection.note = note;
    else this.#log.setNote(connection.note, note);
    decision.dial(endpoint, entry.slot, dropBytes);
    return true;
  }

  /** Checks the rate last, so that a connection refused for another reason does not use up the rate. */
  #overLimit(entry: RouteEntry): GatewayReason | 'connections_limit' | undefined {
    const { allValues, maxConnections, rates } = this.#options;
    if (sumOver(allValues, GLOBAL.open) > maxConnections) return 'connections_limit';
    if (entry.maxConnections > 0) {
      const open = sumOver(allValues, this.#row(entry) + COLUMN.open);
      if (open >= entry.maxConnections) return 'tenant_connections_limit';
    }
    const perSecond = entry.connectionsPerSecond;
    if (perSecond > 0 && !rates.admits(entry.slot, perSecond)) return 'tenant_rate_limit';
    return undefined;
  }

  /** Only a client whose first bytes are TLS can read an alert. */
  #refusePreamble(
    code: PreambleRefusal,
    isTls: boolean,
    connection: ClientConnection,
    decision: Decision,
  ): void {
    this.#log?.begin(connection, '', undefined);
    if (isTls) decision.refuse(this.#reason(code), ALERT_RECORDS.internal_error);
    else decision.reset(this.#reason(code));
  }

  #refuseHello(refusal: HelloRefusal, connection: ClientConnection, decision: Decision): void {
    this.#log?.begin(connection, '', this.#preamble.client());
    const answer = answerTo(refusal);
    if (answer === undefined) decision.reset(this.#reason(refusal));
    else decision.refuse(this.#reason(refusal), answer);
  }

  #refuseName(
    code: GatewayReason,
    host: string,
    connection: ClientConnection,
    decision: Decision,
  ): void {
    this.#log?.begin(connection, host, this.#preamble.client());
    decision.refuse(this.#reason(code), ALERT_RECORDS.unrecognized_name);
  }

  #refuseEntry(
    entry: RouteEntry,
    code: GatewayReason | 'connections_limit',
    answer: Uint8Array,
    connection: ClientConnection,
    decision: Decision,
  ): void {
    this.#log?.begin(connection, entry.host, this.#preamble.client(), entry);
    this.#counters.failSlot(this.#reason(code), this.#row(entry));
    decision.refuse(this.#reason(code), answer);
  }

  #row(entry: RouteEntry): number {
    return this.#counters.row(entry.slot);
  }

  #reason(code: GatewayReason | EngineReason): number {
    return this.#reasons[code];
  }
}

type ReasonNumbers = Readonly<Record<GatewayReason | EngineReason, number>>;

function reasonNumbers(counters: Counters): ReasonNumbers {
  const codes = [...ENGINE_REASON_CODES, ...GATEWAY_REASON_CODES];
  const numbers = codes.map((code) => [code, counters.reason(code)] as const);
  return Object.fromEntries(numbers) as ReasonNumbers;
}
