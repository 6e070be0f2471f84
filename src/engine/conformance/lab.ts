/** For tests only: an engine between clients and backends on loopback, disposed of at the end of the test. */
import { hello } from '../../wire/hello/hello-builder.ts';
import { ManualClock } from '../../clock/manual-clock.ts';
import type { Counters, SlotCounts } from '../counters.ts';
import type { Engine } from '../engine.ts';
import type { Limits } from '../limits.ts';
import { makeEngine } from './engines.ts';
import { Backend, Peer, until } from '../../net/testing/peer.ts';
import { Table, type Row } from './table.ts';

/** The name in the first row, and a hello for it. */
export const NAME = 'a.test';
export const HELLO = hello({ serverName: NAME });

interface LabOptions {
  /** Default: {@link NAME} is routed to the backend of the lab. */
  readonly rows?: (backendPort: number) => readonly Row[];
  readonly limits?: Partial<Limits>;
  /** Address of engine and backend. Default 127.0.0.1. */
  readonly address?: string;
  /** Counters of other threads. Default: none. */
  readonly neighbors?: readonly Counters[];
  readonly onPeer?: (peer: Peer) => void;
}

/** An engine, its router and a backend. */
export class Lab implements Disposable {
  readonly backend: Backend;
  readonly table: Table;
  readonly counters: Counters;
  readonly clock = new ManualClock();
  readonly engine: Engine;
  readonly port: number;
  readonly faults: unknown[] = [];
  readonly #address: string;

  constructor(engine: string, options: LabOptions = {}) {
    this.#address = options.address ?? '127.0.0.1';
    this.backend = new Backend(this.#address, options.onPeer);
    const standard = [{ name: NAME, endpoints: [[this.#address, this.backend.port] as const] }];
    this.table = new Table(options.rows?.(this.backend.port) ?? standard);
    this.counters = this.table.counters;
    this.engine = makeEngine(engine, {
      router: this.table,
      counters: this.counters,
      allValues: [this.counters, ...(options.neighbors ?? [])].map(({ values }) => values),
      limits: options.limits ?? {},
      clock: this.clock,
      onFault: (error) => this.faults.push(error),
    });
    this.port = this.engine.listen({ address: this.#address, port: 0 });
  }

  [Symbol.dispose](): void {
    this.engine.stop();
    this.backend[Symbol.dispose]();
  }

  /** Dials the engine. The client has sent nothing yet. */
  async dial(): Promise<Peer> {
    return Peer.dial(this.port, this.#address);
  }

  /** Returns a client and its upstream, which has received the hello. */
  async pair(): Promise<{ client: Peer; upstream: Peer }> {
    const client = await this.dial();
    await client.send(HELLO);
    const upstream = await this.backend.next();
    await until(() => upstream.received >= HELLO.length, 'the hello at the backend');
    return { client, upstream };
  }

  /** Returns the counts of the first row. */
  counts(): SlotCounts {
    return this.counters.slot(0);
  }

  /** Waits until no connection is open, and returns the one that closed last. */
  async lastClosed(): Promise<Table['closedConnections'][number]> {
    await until(() => this.counters.global('open') === 0, 'no connection is open');
    const closed = this.table.closedConnections.at(-1);
    if (closed === undefined) throw new Error('no connection has ended');
    return closed;
  }
}
