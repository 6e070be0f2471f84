/**
 * A TLS connection through the edge with a configurable ClientHello.
 */
import { Duplex } from 'node:stream';
import { connect, type ConnectionOptions, type TLSSocket } from 'node:tls';
import type { Dial } from '../dial.ts';
import { withTimeout, TIMED_OUT, type Limits } from '../limits.ts';
import { failedHandshake, secured, type Handshake } from '../tls/handshake.ts';
import { inOnePiece, type HelloShape } from './hello-shape.ts';
import type { RecordLog } from './record-log.ts';
import { ShapedTransport } from './shaped-transport.ts';

/** The edge that is checked. */
export interface EdgeUnderTest {
  /** An IP address. */
  readonly address: string;
  readonly port: number;
  readonly dial: Dial;
}

/** The ClientHello to send. */
export interface HelloOptions {
  /** Default: none. */
  readonly serverName?: string | undefined;
  /** Offered with ALPN. Default: h2 and http/1.1. */
  readonly protocols?: readonly string[];
  /** Default: 1.3 and 1.2. */
  readonly version?: 'TLSv1.2';
  /** Adds a post-quantum key share and more than two kilobytes after it. Default: smaller than a segment. */
  readonly isLarge?: boolean;
  /** Default: in one piece. */
  readonly shape?: HelloShape;
}

/** Excludes the post-quantum key share, which alone would fill a segment. */
const SMALL_GROUPS = 'X25519:P-256';

/** Unknown protocols: the simplest way to a large ClientHello that every server accepts. */
const PADDING = Array.from({ length: 10 }, (_, index) => `padding-${index}-`.padEnd(250, '.'));

/** More than any response that a check expects. A check may read for hours, so the connection is closed beyond this. */
const MAX_UNREAD_BYTES = 1024 * 1024;

/** A connection after a completed or failed handshake. The caller disposes of it. */
export class EdgeConnection implements Disposable {
  readonly handshake: Handshake;
  readonly #tls: TLSSocket | undefined;
  readonly #transport: ShapedTransport | undefined;
  #received = Buffer.alloc(0);
  #hasEnded: boolean;
  #change = Promise.withResolvers<void>();

  private constructor(handshake: Handshake, tls?: TLSSocket, transport?: ShapedTransport) {
    this.handshake = handshake;
    this.#hasEnded = handshake.kind !== 'secured';
    this.#tls = tls;
    this.#transport = transport;
    tls?.on('data', (chunk: Buffer) => {
      if (this.#received.length + chunk.length > MAX_UNREAD_BYTES) {
        this[Symbol.dispose]();
        return;
      }
      this.#received = Buffer.concat([this.#received, chunk]);
      this.#notify();
    });
    for (const event of ['end', 'close', 'error'] as const) {
      tls?.on(event, () => {
        this.#hasEnded = true;
        this.#notify();
      });
    }
  }

  /** Dials and performs the handshake. @throws only the reason of the caller's signal. */
  static async open(
    edge: EdgeUnderTest,
    hello: HelloOptions,
    limits: Limits,
  ): Promise<EdgeConnection> {
    const opened = await withTimeout(limits, async (signal) => {
      try {
        const socket = await edge.dial(edge.address, edge.port, signal);
        const transport = new ShapedTransport(socket, hello.shape ?? inOnePiece);
        return await EdgeConnection.#shakeHands(transport, hello, signal);
      } catch (error) {
        return new EdgeConnection(signal.aborted ? { kind: 'timeout' } : failedHandshake(error));
      }
    });
    return opened === TIMED_OUT ? new EdgeConnection({ kind: 'timeout' }) : opened;
  }

  static async #shakeHands(
    transport: ShapedTransport,
    hello: HelloOptions,
    signal: AbortSignal,
  ): Promise<EdgeConnection> {
    const { promise, resolve, reject } = Promise.withResolvers<Handshake>();
    const onAbort = () => reject(signal.reason as Error);
    signal.addEventListener('abort', onAbort, { once: true });
    const tls = connect({ socket: transport, ...tlsOptions(hello) });
    tls.once('secureConnect', () => resolve(secured(tls)));
    // Kept for the lifetime of the connection. Later errors count as an end.
    tls.on('error', reject);
    tls.once('close', () => resolve({ kind: 'closed', code: 'ECONNRESET' }));
    try {
      return new EdgeConnection(await promise, tls, transport);
    } catch (error) {
      tls.destroy();
      transport.close();
      throw error;
    } finally {
      signal.removeEventListener('abort', onAbort);
    }
  }

  /** The received TLS records. */
  get records(): RecordLog | undefined {
    return this.#transport?.records;
  }

  /** Whether the connection ended with a TLS alert, which only the server behind the edge can send. */
  get endedByServer(): boolean {
    return this.#hasEnded && this.#transport?.records.endsWithAlert === true;
  }

  send(bytes: Buffer | string): void {
    this.#tls?.write(bytes);
  }

  /** Sends the bytes, immediately followed by the close of this side in TLS and TCP. Reading continues. */
  sendLast(bytes: string): void {
    if (this.#transport !== undefined) this.#transport.isFinishing = true;
    this.#tls?.end(bytes);
  }

  /**
   * Waits until `take` returns a value for the received bytes. Returns `ended` if the connection ends first, and TIMED_OUT
   * if the timeout expires first. @throws only the reason of the caller's signal.
   */
  async receive<T>(
    take: (received: Buffer) => T | undefined,
    limits: Limits,
  ): Promise<T | 'ended' | typeof TIMED_OUT> {
    return withTimeout(limits, async (signal) => {
      while (!signal.aborted) {
        const found = take(this.#received);
        if (found !== undefined) return found;
        if (this.#hasEnded) return 'ended';
        await this.#change.promise;
      }
      return TIMED_OUT;
    });
  }

  /** Waits until `matches` returns true for the received bytes, as {@link receive} does. */
  async waitFor(
    matches: (received: Buffer) => boolean,
    limits: Limits,
  ): Promise<true | 'ended' | typeof TIMED_OUT> {
    return this.receive((received) => (matches(received) ? true : undefined), limits);
  }

  /**
   * Reports whether the other side also ends TCP in time. The end of TLS is separate, and passes through every edge.
   */
  async endsTcp(limits: Limits): Promise<boolean> {
    const end = await withTimeout(limits, async () => this.#transport?.ended);
    return end !== TIMED_OUT;
  }

  /** Drops bytes that were read. */
  drop(bytes: number): void {
    this.#received = this.#received.subarray(bytes);
  }

  [Symbol.dispose](): void {
    this.#tls?.destroy();
    this.#transport?.close();
    this.#notify();
  }

  #notify(): void {
    this.#change.resolve();
    this.#change = Promise.withResolvers();
  }
}

/** Performs one handshake and closes the connection. @throws only the reason of the caller's signal. */
export async function handshakeThrough(
  edge: EdgeUnderTest,
  hello: HelloOptions,
  limits: Limits,
): Promise<Handshake> {
  using connection = await EdgeConnection.open(edge, hello, limits);
  return connection.handshake;
}

/** Returns the bytes of a ClientHello. */
export async function helloBytes(hello: HelloOptions): Promise<Buffer> {
  const { promise, resolve } = Promise.withResolvers<Buffer>();
  const nowhere = new Duplex({
    read: () => {},
    write: (chunk: Buffer, _encoding, done) => {
      resolve(chunk);
      done();
    },
  });
  const tls = connect({ socket: nowhere, ...tlsOptions(hello) });
  // The missing response is not an error here.
  tls.on('error', () => {});
  try {
    return await promise;
  } finally {
    tls.destroy();
    nowhere.destroy();
  }
}

/**
 * Certificates are not verified, since wrong certificates must be seen. That is safe, because nothing secret is sent
 * over these connections.
 */
function tlsOptions({ serverName, protocols, version, isLarge }: HelloOptions): ConnectionOptions {
  const offered = protocols ?? ['h2', 'http/1.1'];
  return {
    rejectUnauthorized: false,
    ALPNProtocols: isLarge === true ? [...offered, ...PADDING] : [...offered],
    ...(serverName !== undefined && { servername: serverName }),
    ...(version !== undefined && { maxVersion: version }),
    ...(isLarge !== true && { ecdhCurve: SMALL_GROUPS }),
  };
}
