/**
 * TCP connections, and why there is none.
 */
import { connect, type Socket } from 'node:net';

/**
 * Opens a connection; address is never a name. Whoever gets it closes it.
 *
 * @throws the system's error, with its `code`; the signal's reason, and then no connection is left behind.
 */
export type Dial = (address: string, port: number, signal: AbortSignal) => Promise<Socket>;

/** By the network of this machine. */
export const dialTcp: Dial = async (address, port, signal) => {
  signal.throwIfAborted();
  const socket = connect({ host: address, port });
  const { promise, resolve, reject } = Promise.withResolvers<Socket>();
  const onAbort = () => reject(signal.reason as Error);
  signal.addEventListener('abort', onAbort, { once: true });
  socket.once('connect', () => resolve(socket));
  // For as long as the socket lives: an error that nobody listens to would end the program.
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

/** Connections that are open already, for whoever dials there first; later ones are dialled. */
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

  /** Closes those that nobody asked for. */
  close(): void {
    for (const socket of this.#connections.values()) socket.destroy();
  }
}

/** The code of an error of the system or of TLS; empty if it has none. */
export function errorCode(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string'
    ? error.code
    : '';
}

/** As in a URL: `10.0.0.5:443`, `[fd00::5]:443`. */
export function addressText(address: string, port: number): string {
  return address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`;
}
