/** For tests only: the smallest router that uses the whole interface. It maps names to endpoints, tried in order. */
import { ALERT_RECORDS } from '../../wire/alert.ts';
import { ClientHello } from '../../wire/hello/client-hello.ts';
import { Counters } from '../counters.ts';
import { Endpoint } from '../endpoint.ts';
import type { ClientConnection, Dial, ClosedConnection, Router } from '../engine.ts';
import type { Decision } from '../decision.ts';

/** The route of a name. */
export interface Row {
  readonly name: string;
  readonly endpoints: readonly (readonly [address: string, port: number])[];
  /** Bytes to send to the upstream first. */
  readonly preface?: string;
  /** Whether to drop the hello. */
  readonly dropsHello?: boolean;
}

/** A closed connection, with codes instead of numbers. */
interface ClosedRecord extends Omit<ClosedConnection, 'connection' | 'reason' | 'endpoint'> {
  readonly reason: string | undefined;
  readonly endpoint: string | undefined;
  readonly remoteAddress: string;
  readonly remotePort: number;
}

/** A table of names. The slot of a name is its index. */
export class Table implements Router {
  readonly counters: Counters;
  readonly ended: ((closed: ClosedConnection) => void) | undefined;
  readonly closedConnections: ClosedRecord[] = [];
  /** The addresses of load balancers. */
  readonly balancers = new Set<string>();
  readonly #rows: readonly Row[];
  readonly #endpoints: readonly (readonly Endpoint[])[];
  readonly #hello = new ClientHello();

  constructor(rows: readonly Row[]) {
    this.#rows = rows;
    this.#endpoints = rows.map((row) => row.endpoints.map(([at, port]) => new Endpoint(at, port)));
    this.counters = new Counters({
      slots: rows.length,
      slotReasons: ['no_endpoint'],
      otherReasons: ['not_a_hello', 'name_unknown'],
    });
    this.ended = (closed) => this.#record(closed);
  }

  isSharedSource(address: string): boolean {
    return this.balancers.has(address);
  }

  route(bytes: Buffer, length: number, connection: ClientConnection, decision: Decision): void {
    const outcome = this.#hello.read(bytes, length);
    if (outcome === 'incomplete') {
      decision.more();
      return;
    }
    if (outcome !== 'hello') {
      decision.reset(this.counters.reason('not_a_hello'));
      return;
    }
    if (this.#hello.serverName === 'bug.test') throw new Error('a bug in the router');
    const slot = this.#rows.findIndex((row) => row.name === this.#hello.serverName);
    if (slot < 0) {
      const reason = this.counters.reason('name_unknown');
      decision.refuse(reason, ALERT_RECORDS.unrecognized_name);
      return;
    }
    connection.note = this.#hello.end; // for failed(), where there is no hello to read
    this.#dial(slot, 0, connection, decision);
  }

  failed(dial: Dial, connection: ClientConnection, decision: Decision): void {
    this.#dial(dial.slot, dial.attempt, connection, decision);
  }

  preface(dial: Dial, _connection: ClientConnection, buffer: Buffer): number {
    return buffer.write(this.#rows[dial.slot]?.preface ?? '');
  }

  #dial(slot: number, attempt: number, connection: ClientConnection, decision: Decision): void {
    const row = this.#rows[slot];
    const endpoint = this.#endpoints[slot]?.[attempt];
    if (row === undefined || endpoint === undefined) {
      decision.refuse(this.counters.reason('no_endpoint'), ALERT_RECORDS.internal_error);
      return;
    }
    const dropBytes = row.dropsHello === true ? connection.note : 0;
    decision.dial(endpoint, slot, dropBytes, row.preface !== undefined);
  }

  #record(closed: ClosedConnection): void {
    const { connection, slot, attempts, bytesUp, bytesDown, durationMs } = closed;
    const { remoteAddress, remotePort } = connection;
    const reason = this.counters.reasons[closed.reason];
    const endpoint = closed.endpoint?.toString();
    const numbers = { slot, attempts, bytesUp, bytesDown, durationMs };
    this.closedConnections.push({ ...numbers, reason, endpoint, remoteAddress, remotePort });
  }
}
