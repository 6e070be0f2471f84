/** For tests only: a pod's TLS client, which trusts its cluster's CA. */
import { once } from 'node:events';
import { connect as connectPlain, type Socket } from 'node:net';
import { connect, type ConnectionOptions, type TLSSocket } from 'node:tls';
import { extension, hello } from '../../wire/hello/hello-builder.ts';

/** How a dial of a pod failed: the code of the error, and whether the pod received bytes of a handshake. */
export interface Refusal {
  readonly code: string;
  readonly sawHandshake: boolean;
}

/** A connection after its handshake. */
export class Pod implements Disposable {
  readonly tls: TLSSocket;
  readonly plain: Socket;
  receivedBytes = 0;
  readonly #chunks: Buffer[] = [];
  sawEnd = false;
  error: (Error & { readonly code?: string }) | undefined;
  isClosed = false;

  private constructor(tls: TLSSocket, plain: Socket) {
    this.tls = tls;
    this.plain = plain;
    tls.on('data', (chunk: Buffer) => {
      this.receivedBytes += chunk.length;
      this.#chunks.push(chunk);
    });
    tls.on('end', () => (this.sawEnd = true));
    tls.on('error', (error) => (this.error = error));
    tls.on('close', () => (this.isClosed = true));
  }

  /** Connects and completes the handshake. @throws the error of the handshake. */
  static async dial(port: number, options: ConnectionOptions = {}): Promise<Pod> {
    const plain = connectPlain(port, options.host ?? '127.0.0.1');
    await once(plain, 'connect');
    plain.on('error', () => {}); // `tls` reports it, sometimes after this socket does
    const tls = connect({ servername: 'kubernetes.default.svc', ...options, socket: plain });
    try {
      await once(tls, 'secureConnect');
    } catch (error) {
      plain.destroy();
      throw error;
    }
    return new Pod(tls, plain);
  }

  /** Dials a proxy that refuses the connection, and returns how it was refused. */
  static async refused(port: number, options: ConnectionOptions = {}): Promise<Refusal> {
    const plain = connectPlain(port, '127.0.0.1');
    let sawBytes = false;
    plain.on('data', () => (sawBytes = true));
    const failed = new Promise<string>((resolve) => {
      const code = (error: Error & { code?: string }): void => resolve(error.code ?? error.message);
      plain.on('error', code);
      plain.on('close', () => resolve('closed'));
      plain.once('connect', () => {
        const tls = connect({ servername: 'kubernetes', ...options, socket: plain });
        tls.on('error', code);
        tls.once('secureConnect', () => resolve('connected'));
      });
    });
    const code = await failed;
    const sawHandshake = sawBytes || plain.bytesRead > 0;
    plain.destroy();
    return { code, sawHandshake };
  }

  /** All bytes received. */
  get received(): Buffer {
    return Buffer.concat(this.#chunks);
  }

  /** Sends text and waits for as many bytes to return. */
  async echo(text: string): Promise<string> {
    const from = this.receivedBytes;
    this.tls.write(text);
    const end = performance.now() + 30_000;
    while (this.receivedBytes < from + text.length) {
      if (this.error !== undefined) throw this.error;
      if (this.isClosed) throw new Error('the connection was closed before the echo');
      if (performance.now() > end) throw new Error('no echo within 30 s');
      await Bun.sleep(1);
    }
    return this.received.subarray(from).toString();
  }

  [Symbol.dispose](): void {
    this.tls.destroy();
    this.plain.destroy();
  }
}

const ECDHE_ECDSA_AES128_GCM = Buffer.from([0xc0, 0x2b]);
const GROUPS = extension(10, Buffer.from([0, 2, 0, 0x17]));
const SIGNATURES = extension(13, Buffer.from([0, 2, 4, 3]));

/** Returns a TLS 1.2 hello that a server answers, for handshakes that end there. */
export function plainHello(serverName: string): Buffer {
  const extensions = [GROUPS, SIGNATURES];
  return hello({ serverName, cipherSuites: ECDHE_ECDSA_AES128_GCM, extensions });
}
