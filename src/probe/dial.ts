/**
 * TCP connections and their errors.
 */
import { connect, type Socket } from 'node:net';

/**
 * Opens a connection to an IP address. The caller closes it.
 *
 * @throws the system's error, with its `code`. If the signal aborts, throws its reason and leaves no connection open.
 */
export type Dial = (address: string, port: number, signal: AbortSignal) => Promise<Socket>;

/** Dials over the network of this machine. */
export const dialTcp: Dial = async (address, port, signal) => {
  signal.throwIfAborted();
  const socket = connect({ host: address, port });
  const { promise, resolve, reject } = Promise.withResolvers<Socket>();
  const onAbort = () => reject(signal.reason as Error);
  signal.addEventListener('abort', onAbort, { once: true });
  socket.once('connect', () => resolve(socket));
  // Kept for the lifetime of the socket: an error without a listener would end the process.
  socket.on('error', reject);
  try {
    return await promise;
  } catch (error) {
    socket.destroy();
    throw error;
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
};

/** Hands out connections that are already open to the first dial of each address. Later dials open new ones. */
export class SpareConnections {
  readonly #connections: Map<string, Socket>;
  readonly #dial: Dial;

  constructor(connections: ReadonlyMap<string, Socket>, dial: Dial) {
    this.#connections = new Map(connections);
    this.#dial = dial;
  }

  readonly dial: Dial = async (address, port, signal) => {
    const spare = this.#connections.get(address);
    this.#connections.delete(address);
    return spare === undefined || spare.destroyed ? this.#dial(address, port, signal) : spare;
  };

  /** Closes the unused connections. */
  close(): void {
    for (const socket of this.#connections.values()) socket.destroy();
  }
}

/** Returns the code of a system or TLS error, or an empty string if it has none. */
export function errorCode(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string'
    ? error.code
    : '';
}

/** Returns address and port as in a URL: `10.0.0.5:443`, `[fd00::5]:443`. */
export function addressText(address: string, port: number): string {
  return address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`;
}
