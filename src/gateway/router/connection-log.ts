/**
 * The access log of one thread. It keeps a record of each connection and formats the log line when the connection
 * closes.
 *
 * It exists only if there is an access log. The engine stores one number per connection, the `note`. With an access log
 * the note is the index of the record, and the record has the note of the router.
 */
import type { ClientConnection, ClosedConnection } from '../../engine/engine.ts';
import type { RouteEntry } from './route-index.ts';

/** The client address from a PROXY header. */
interface ForwardedClient {
  readonly address: string;
  readonly port: number;
}

interface Record {
  note: number;
  host: string;
  client: ForwardedClient | undefined;
  entry: RouteEntry | undefined;
}

/** Formats log lines and passes them to `write` in batches, see {@link flush}. */
export class ConnectionLog {
  readonly #write: (lines: string, count: number) => void;
  /** Index 0 stays unused, because the note of a new connection is 0. */
  readonly #records: (Record | undefined)[] = [undefined];
  readonly #free: number[] = [];
  #lines = '';
  #count = 0;

  constructor(write: (lines: string, count: number) => void) {
    this.#write = write;
  }

  /** Begins the record of a connection. Pass `entry` if the connection is refused before it is dialed. */
  begin(
    connection: ClientConnection,
    host: string,
    client: ForwardedClient | undefined,
    entry?: RouteEntry,
  ): void {
    const index = this.#free.pop() ?? this.#records.length;
    this.#records[index] = { note: 0, host, client, entry };
    connection.note = index;
  }

  noteOf(index: number): number {
    return this.#records[index]?.note ?? 0;
  }

  setNote(index: number, note: number): void {
    const record = this.#records[index];
    if (record !== undefined) record.note = note;
  }

  /** Adds the line of a closed connection. `entry` is its route, if the route still exists. */
  ended(closed: ClosedConnection, entry: RouteEntry | undefined, reason: string): void {
    const { connection } = closed;
    const record = this.#records[connection.note];
    const route = entry ?? record?.entry;
    const client = record?.client ?? {
      address: connection.remoteAddress,
      port: connection.remotePort,
    };
    const line = {
      time: new Date().toISOString(),
      tenant: route?.tenant,
      host: record?.host === '' ? undefined : record?.host,
      kind: route?.kind,
      client: formatAddress(client),
      // The peer of the connection, if that is a load balancer or a worker's proxy.
      via:
        record?.client === undefined
          ? undefined
          : formatAddress({ address: connection.remoteAddress, port: connection.remotePort }),
      endpoint: closed.endpoint?.toString(),
      attempts: closed.attempts,
      bytesUp: closed.bytesUp,
      bytesDown: closed.bytesDown,
      durationMs: Math.round(closed.durationMs * 10) / 10,
      reason,
    };
    this.#lines += `${JSON.stringify(line)}\n`;
    this.#count++;
    if (connection.note > 0) {
      this.#records[connection.note] = undefined;
      this.#free.push(connection.note);
    }
    if (this.#lines.length >= BATCH_CHARACTERS) this.flush();
  }

  /** Writes the collected lines. The thread calls it a few times per second. */
  flush(): void {
    if (this.#count === 0) return;
    this.#write(this.#lines, this.#count);
    this.#lines = '';
    this.#count = 0;
  }
}

const BATCH_CHARACTERS = 64 * 1024;

function formatAddress({ address, port }: ForwardedClient): string {
  return address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`;
}
