/**
 * What the switchboard decides about one connection. One object per engine, written anew for every question.
 */
import type { Endpoint } from './endpoint.ts';
import { REASON } from './reasons.ts';

const NO_ANSWER = new Uint8Array(0);

/** The answer of a {@link Switchboard}: it calls exactly one of the methods. */
export class Verdict {
  /** `reset`: no answer would be understood or believed, let TCP say it. */
  kind: 'more' | 'dial' | 'refuse' | 'reset' = 'more';
  /** For `dial`. */
  endpoint: Endpoint | undefined;
  slot = 0;
  dropBytes = 0;
  hasPreface = false;
  /** For `refuse`: may be shared between connections, so engines only read it. */
  answer: Uint8Array = NO_ANSWER;
  /** For `refuse` and `reset`: a number of {@link Counters.reasons}. */
  reason: number = REASON.fault;

  /** The first bytes are not complete: ask again when there are more of them. */
  more(): void {
    this.kind = 'more';
  }

  /**
   * Join the client with this endpoint, and count under this slot.
   *
   * @param dropBytes how many of the first bytes are not for the upstream, such as a PROXY header. Default 0.
   * @param hasPreface whether {@link Switchboard.preface} has bytes to send before the client's. Default false.
   */
  dial(endpoint: Endpoint, slot: number, dropBytes = 0, hasPreface = false): void {
    this.kind = 'dial';
    this.endpoint = endpoint;
    this.slot = slot;
    this.dropBytes = dropBytes;
    this.hasPreface = hasPreface;
  }

  /** Send the answer (default: nothing), then FIN, and count under this reason. */
  refuse(reason: number, answer: Uint8Array = NO_ANSWER): void {
    this.kind = 'refuse';
    this.reason = reason;
    this.answer = answer;
  }

  /** Reset the connection, and count under this reason. */
  reset(reason: number): void {
    this.kind = 'reset';
    this.reason = reason;
  }
}
