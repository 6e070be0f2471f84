/**
 * For tests only: a server, a transport to it, and a folder for files.
 */
import type { ByteStream } from '../stream.ts';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ManualClock } from '../../../clock/manual-clock.ts';
import { TestAuthority, type Pair } from '../../../net/testing/certificates.ts';
import type { ClusterAccess } from '../../access/cluster-access.ts';
import { isKubeError, type KubeError } from '../../kube-error.ts';
import { startServer, type Exchange, type TestServer } from './server.ts';
import { Transport, type Call } from '../transport.ts';

/** A simple request. */
export const VERSION: Call = { verb: 'GET', path: '/version' };

/** The clock of a test. */
export interface LabTime {
  readonly clock?: ManualClock;
}

/** A server with a transport. Disposed with the scope of the test. */
export class TransportLab implements AsyncDisposable {
  readonly authority: TestAuthority;
  /** The serving certificate for 127.0.0.1 and kubernetes. */
  readonly serving: Pair;
  readonly server: TestServer;
  readonly folder: string = mkdtempSync(join(tmpdir(), 'transport-'));

  private constructor(authority: TestAuthority, serving: Pair, server: TestServer) {
    this.authority = authority;
    this.serving = serving;
    this.server = server;
  }

  /** Starts the server. Its default script answers every request with `{"ok":true}`. */
  static async open(): Promise<TransportLab> {
    const authority = await TestAuthority.create();
    const serving = await authority.issue({ names: ['127.0.0.1', 'kubernetes'] });
    const server = await startServer((exchange) => exchange.respond(200, { ok: true }), {
      tls: serving,
    });
    return new TransportLab(authority, serving, server);
  }

  access(more: Partial<ClusterAccess> = {}): ClusterAccess {
    return {
      server: this.server.url,
      ca: this.authority.cert,
      credentials: { kind: 'none' },
      namespace: 'default',
      ...more,
    };
  }

  transport(more: Partial<ClusterAccess> = {}, time: LabTime = {}): Transport {
    return new Transport(this.access(more), {
      // With a manual clock, tests reach the timeout exactly. With the system clock, they must never reach it.
      timeoutMs: time.clock === undefined ? 120_000 : 10_000,
      userAgent: 'snicket/test',
      responseBytes: 1024 * 1024,
      ...time,
    });
  }

  /** Starts another server, which requires client certificates of the same CA. */
  async mutualServer(): Promise<TestServer> {
    const tls = { ...this.serving, clientCa: this.authority.cert };
    return startServer((exchange) => exchange.respond(200, {}), { tls });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.server[Symbol.asyncDispose]();
    rmSync(this.folder, { recursive: true });
  }
}

/** Returns the KubeError of a failed call. @throws any other error */
export async function errorOf(promise: Promise<unknown>): Promise<KubeError> {
  const error = await promise.then(
    () => new Error('it was answered'),
    (thrown: unknown) => thrown,
  );
  if (isKubeError(error)) return error;
  throw error;
}

/** Returns the token of a request. */
export function tokenOf({ headers }: Exchange): string | undefined {
  return headers.get('authorization')?.replace('Bearer ', '');
}

/** Reads all bytes of a stream and closes it. */
export async function allOf(stream: ByteStream): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  for (let part = await stream.read(); part !== undefined; part = await stream.read()) {
    parts.push(part);
  }
  stream.close();
  return Buffer.concat(parts);
}
