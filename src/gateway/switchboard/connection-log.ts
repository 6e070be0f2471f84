/**
 * The access log of one thread: remembers what a line needs, and makes the line when the connection is over.
 *
 * Exists only if asked for. What is known of a connection is in a record; the switchboard's number of the connection is
 * then the place of its record, and the number that it would have been is kept in there.
 */
import type { Caller, Ending } from '../../engine/engine.ts';
import type { Entry } from './route-book.ts';

/** Who connected, as a PROXY header has it. */
export interface ForwardedClient {
  readonly address: string;
  readonly port: number;
}

interface Record {
  note: number;
  host: string;
  client: ForwardedClient | undefined;
  entry: Entry | undefined;
}

/** Makes lines and gives them to `write` in batches, see {@link flush}. */
export class ConnectionLog {
  readonly #write: (lines: string, count: number) => void;
  /** The place 0 is nobody's: a connection begins with that number. */
  readonly #records: (Record | undefined)[] = [undefined];
  readonly #free: number[] = [];
  #lines = '';
  #count = 0;

  constructor(write: (lines: string, count: number) => void) {
    this.#write = write;
  }

  /** It is decided about this connection. `entry` is for one that is refused before it is dialled. */
  begin(caller: Caller, host: string, client: ForwardedClient | undefined, entry?: Entry): void {
    const place = this.#free.pop() ?? this.#records.length;
    this.#records[place] = { note: 0, host, client, entry };
    caller.note = place;
  }

  noteOf(place: number): number {
    return this.#records[place]?.note ?? 0;
  }

  keepNote(place: number, note: number): void {
    const record = this.#records[place];
    if (record !== undefined) record.note = note;
  }

  /** The connection is over: a line for it. `entry` is its route, if that still exists. */
  ended(ending: Ending, entry: Entry | undefined, reason: string): void {
    const { caller } = ending;
    const record = this.#records[caller.note];
    const route = entry ?? record?.entry;
    const client = record?.client ?? { address: caller.remoteAddress, port: caller.remotePort };
    const line = {
      time: new Date().toISOString(),
      tenant: route?.tenant,
      host: record?.host === '' ? undefined : record?.host,
      kind: route?.kind,
      client: spoken(client),
      // Behind a load balancer or a worker's proxy: who really dialled us.
      via:
        record?.client === undefined
          ? undefined
          : spoken({ address: caller.remoteAddress, port: caller.remotePort }),
      endpoint: ending.endpoint?.toString(),
      attempts: ending.attempts,
      bytesUp: ending.bytesUp,
      bytesDown: ending.bytesDown,
      durationMs: Math.round(ending.durationMs * 10) / 10,
      reason,
    };
    this.#lines += `${JSON.stringify(line)}\n`;
    this.#count++;
    if (caller.note > 0) {
      this.#records[caller.note] = undefined;
      this.#free.push(caller.note);
    }
    if (this.#lines.length >= BATCH_CHARACTERS) this.flush();
  }

  /** Gives away what there is. To be called a few times a second. */
  flush(): void {
    if (this.#count === 0) return;
    this.#write(this.#lines, this.#count);
    this.#lines = '';
    this.#count = 0;
  }
}

const BATCH_CHARACTERS = 64 * 1024;

function spoken({ address, port }: ForwardedClient): string {
  return address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`;
}
