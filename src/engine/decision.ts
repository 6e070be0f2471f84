/**
 * The decision of the router about one connection. Each engine has one object and reuses it for every call.
 */
import type { Endpoint } from './endpoint.ts';
import { REASON } from './reasons.ts';

const NO_ANSWER = new Uint8Array(0);

/** The decision of a {@link Router}, which calls exactly one of the methods. */
export class Decision {
  /** `reset` is for clients that would not understand or not trust an answer. */
  kind: 'more' | 'dial' | 'refuse' | 'reset' = 'more';
  /** For `dial`. */
  endpoint: Endpoint | undefined;
  slot = 0;
  dropBytes = 0;
  hasPreface = false;
  /** For `refuse`. Connections may share the bytes, so engines do not write to them. */
  answer: Uint8Array = NO_ANSWER;
  /** For `refuse` and `reset`: a number of {@link Counters.reasons}. */
  reason: number = REASON.fault;

  /** The first bytes are incomplete. The engine calls again when more have arrived. */
  more(): void {
    this.kind = 'more';
  }

  /**
   * Connects the client to this endpoint, and counts it under this slot.
   *
   * @param dropBytes number of first bytes that are not for the upstream, such as a PROXY header. Default 0.
   * @param hasPreface whether {@link Router.preface} has bytes to send before the client's. Default false.
   */
  dial(endpoint: Endpoint, slot: number, dropBytes = 0, hasPreface = false): void {
    this.kind = 'dial';
    this.endpoint = endpoint;
    this.slot = slot;
    this.dropBytes = dropBytes;
    this.hasPreface = hasPreface;
  }

  /** Sends the answer (default: nothing) and a FIN, and counts the connection under this reason. */
  refuse(reason: number, answer: Uint8Array = NO_ANSWER): void {
    this.kind = 'refuse';
    this.reason = reason;
    this.answer = answer;
  }

  /** Resets the connection, and counts it under this reason. */
  reset(reason: number): void {
    this.kind = 'reset';
    this.reason = reason;
  }
}
