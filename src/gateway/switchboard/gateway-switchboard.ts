/**
 * Decides for the gateway, in one thread: whom does this client want, may it, and which endpoint is next?
 *
 * All of it runs for every new connection, so nothing is allocated here but the name, and with a signed header what
 * verifying takes. The clock is read only where a limit or a resting endpoint asks for it.
 */
import { systemClock, type Clock } from '../../clock/clock.ts';
import { COLUMN, GLOBAL, sumOver, type Counters } from '../../engine/counters.ts';
import type { Caller, Dial, Ending, Switchboard } from '../../engine/engine.ts';
import { ENGINE_REASON_CODES, REASON, type EngineReason } from '../../engine/reasons.ts';
import type { Verdict } from '../../engine/verdict.ts';
import { ALERT_RECORDS } from '../../wire/alert.ts';
import { ClientHello } from '../../wire/hello/client-hello.ts';
import type { HelloRefusal, TenantOutcome } from '../../wire/outcome.ts';
import type { ProxyHeader } from '../../wire/proxy-header.ts';
import { answerTo, GATEWAY_REASON_CODES, type GatewayReason } from '../reasons.ts';
import type { ConnectionLog } from './connection-log.ts';
import { Introductions, type IntroductionRefusal } from './introductions.ts';
import type { RateLimit } from './rate-limit.ts';
import type { Entry, RouteBook } from './route-book.ts';
import type { TenantGate } from './tenant-gate.ts';
import type { ProxyProtocol } from './trusted-sources.ts';

/** What a thread's switchboard is made of. */
export interface GatewaySwitchboardOptions {
  readonly book: RouteBook;
  /** Absent as long as there are no keys: then nobody is believed. */
  readonly gate: () => TenantGate | undefined;
  readonly counters: Counters;
  /** The numbers of all threads, this one's among them: limits hold over all. */
  readonly allValues: readonly Float64Array[];
  readonly rates: RateLimit;
  readonly proxyProtocol: ProxyProtocol;
  /** Over all threads. */
  readonly maxConnections: number;
  /** Absent: no access log. */
  readonly log?: ConnectionLog | undefined;
  /** Default: the clock of the machine. */
  readonly clock?: Clock;
}

const HANDSHAKE_RECORD = 0x16;

/** What is remembered of a connection while it is dialled: how much to drop, and which endpoints were tried. */
const DROP_BITS = 15;
const DROP_MASK = 2 ** DROP_BITS - 1;

/** The switchboard of one thread. */
export class GatewaySwitchboard implements Switchboard {
  /** Absent without an access log, so that no engine looks at addresses. */
  readonly ended: ((ending: Ending) => void) | undefined;

  readonly #options: GatewaySwitchboardOptions;
  readonly #book: RouteBook;
  readonly #counters: Counters;
  readonly #log: ConnectionLog | undefined;
  readonly #introductions: Introductions;
  readonly #hello = new ClientHello();
  readonly #reasons: ReasonNumbers;
  readonly #nowMs: () => number;

  /** @throws RangeError if the counters lack a reason of the gateway's. */
  constructor(options: GatewaySwitchboardOptions) {
    this.#options = options;
    this.#book = options.book;
    this.#counters = options.counters;
    this.#log = options.log;
    this.#introductions = new Introductions(options.proxyProtocol);
    this.#reasons = reasonNumbers(options.counters);
    const clock = options.clock ?? systemClock;
    this.#nowMs = () => clock.nowMs();
    const { log, book, counters } = options;
    if (log !== undefined) {
      this.ended = (ending) => {
        log.ended(ending, book.at(ending.slot), counters.reasons[ending.reason] ?? 'unknown');
      };
    }
  }

  route(bytes: Buffer, length: number, caller: Caller, verdict: Verdict): void {
    const start = this.#introductions.read(bytes, length, caller);
    if (start === 'incomplete') return verdict.more();
    if (typeof start !== 'number') {
      return this.#refuseIntroduction(start, bytes[0] === HANDSHAKE_RECORD, caller, verdict);
    }
    if (this.#introductions.tenantHeader !== undefined) {
      return this.#routeSigned(bytes[start] === HANDSHAKE_RECORD, start, caller, verdict);
    }

    const outcome = this.#hello.read(bytes, length, start);
    if (outcome === 'incomplete') return verdict.more();
    if (outcome !== 'hello') return this.#refuseHello(outcome, caller, verdict);
    const host = this.#hello.serverName;
    if (host === undefined) return this.#refuseName('name_absent', '', caller, verdict);
    const entry = this.#book.find(host);
    if (entry === undefined) return this.#refuseName('name_unknown', host, caller, verdict);
    this.#admit(entry, start, caller, verdict);
  }

  standsForMany(address: string): boolean {
    return this.#introductions.isBalancer(address);
  }

  failed(dial: Dial, caller: Caller, verdict: Verdict): void {
    // That is this process's fault and no endpoint's: none rests for it, and the next would fare no better.
    if (dial.reason === REASON.dial_no_resources) {
      return verdict.refuse(this.#reason('no_endpoint'), ALERT_RECORDS.internal_error);
    }
    const entry = this.#book.at(dial.slot);
    const note = this.#log === undefined ? caller.note : this.#log.noteOf(caller.note);
    const failed = entry?.rotation.failed(dial.endpoint, this.#nowMs()) ?? 0;
    const tried = (note >>> DROP_BITS) | failed;
    // An endpoint that is gone from its route has no bit; the number of attempts ends the search all the same.
    const hasMore = entry !== undefined && dial.attempt < entry.rotation.size;
    if (hasMore && this.#dials(entry, note & DROP_MASK, tried, caller, verdict)) return;
    verdict.refuse(this.#reason('no_endpoint'), ALERT_RECORDS.internal_error);
  }

  connected(dial: Dial): void {
    this.#book.at(dial.slot)?.rotation.worked(dial.endpoint);
  }

  /** The header names the host; what the hello inside says is for the API server. */
  #routeSigned(isTls: boolean, start: number, caller: Caller, verdict: Verdict): void {
    const header = this.#introductions.tenantHeader;
    if (header === undefined || !isTls) return this.#refuseHello('not_tls', caller, verdict);
    const host = header.authority();
    if (host === undefined) {
      this.#log?.begin(caller, '', this.#introductions.client());
      return verdict.refuse(this.#reason('tenant_unsigned'), ALERT_RECORDS.handshake_failure);
    }
    const entry = this.#book.find(host);
    if (entry === undefined) return this.#refuseName('name_unknown', '', caller, verdict);
    const outcome = this.#judge(header, entry);
    if (outcome === 'valid') {
      this.#introductions.isVerified = true;
      return this.#admit(entry, start, caller, verdict);
    }
    this.#refuseEntry(entry, outcome, ALERT_RECORDS.handshake_failure, caller, verdict);
  }

  #judge(header: ProxyHeader, entry: Entry): TenantOutcome {
    const gate = this.#options.gate();
    if (gate === undefined) return 'tenant_key_unknown';
    const { timesFull } = gate;
    const outcome = gate.judge(header, entry, Date.now() / 1000);
    if (gate.timesFull > timesFull) this.#counters.fail(this.#reason('replay_guard_full'), -1);
    return outcome;
  }

  #admit(entry: Entry, dropBytes: number, caller: Caller, verdict: Verdict): void {
    if (entry.sources !== undefined && !entry.sources.has(this.#introductions.sourceOf(caller))) {
      const answer = ALERT_RECORDS.handshake_failure;
      return this.#refuseEntry(entry, 'source_not_allowed', answer, caller, verdict);
    }
    const refusal = this.#overLimit(entry);
    if (refusal !== undefined) {
      return this.#refuseEntry(entry, refusal, ALERT_RECORDS.internal_error, caller, verdict);
    }
    this.#log?.begin(caller, entry.host, this.#introductions.client(), entry);
    if (this.#dials(entry, dropBytes, 0, caller, verdict)) return;
    // Before the first dial the engine knows no slot to count for.
    this.#counters.failSlot(this.#reason('no_endpoint'), this.#row(entry));
    verdict.refuse(this.#reason('no_endpoint'), ALERT_RECORDS.internal_error);
  }

  /** Whether there is an endpoint to dial. */
  #dials(
    entry: Entry,
    dropBytes: number,
    tried: number,
    caller: Caller,
    verdict: Verdict,
  ): boolean {
    const { rotation } = entry;
    const endpoint = rotation.at(rotation.pick(tried, this.#nowMs));
    if (endpoint === undefined) return false;
    const note = (tried << DROP_BITS) | dropBytes;
    if (this.#log === undefined) caller.note = note;
    else this.#log.keepNote(caller.note, note);
    verdict.dial(endpoint, entry.slot, dropBytes);
    return true;
  }

  /** The rate comes last: a connection that is refused for another reason uses nothing up. */
  #overLimit(entry: Entry): GatewayReason | 'connections_limit' | undefined {
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

  /** Only where the hello comes first is anybody there who could read an alert. */
  #refuseIntroduction(
    code: IntroductionRefusal,
    isTls: boolean,
    caller: Caller,
    verdict: Verdict,
  ): void {
    this.#log?.begin(caller, '', undefined);
    if (isTls) verdict.refuse(this.#reason(code), ALERT_RECORDS.internal_error);
    else verdict.reset(this.#reason(code));
  }

  #refuseHello(refusal: HelloRefusal, caller: Caller, verdict: Verdict): void {
    this.#log?.begin(caller, '', this.#introductions.client());
    const answer = answerTo(refusal);
    if (answer === undefined) verdict.reset(this.#reason(refusal));
    else verdict.refuse(this.#reason(refusal), answer);
  }

  #refuseName(code: GatewayReason, host: string, caller: Caller, verdict: Verdict): void {
    this.#log?.begin(caller, host, this.#introductions.client());
    verdict.refuse(this.#reason(code), ALERT_RECORDS.unrecognized_name);
  }

  #refuseEntry(
    entry: Entry,
    code: GatewayReason | 'connections_limit',
    answer: Uint8Array,
    caller: Caller,
    verdict: Verdict,
  ): void {
    this.#log?.begin(caller, entry.host, this.#introductions.client(), entry);
    this.#counters.failSlot(this.#reason(code), this.#row(entry));
    verdict.refuse(this.#reason(code), answer);
  }

  #row(entry: Entry): number {
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
