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

/** A request that says nothing in particular. */
export const VERSION: Call = { verb: 'GET', path: '/version' };

/** Time, as a test has it. */
export interface LabTime {
  readonly clock?: ManualClock;
}

/** All of it; ends with the scope of the test. */
export class TransportLab implements AsyncDisposable {
  readonly authority: TestAuthority;
  /** For 127.0.0.1 and kubernetes. */
  readonly serving: Pair;
  readonly server: TestServer;
  readonly folder: string = mkdtempSync(join(tmpdir(), 'transport-'));

  private constructor(authority: TestAuthority, serving: Pair, server: TestServer) {
    this.authority = authority;
    this.serving = serving;
    this.server = server;
  }

  /** The server answers all with `{"ok":true}` until it is told another script. */
  static async open(): Promise<TransportLab> {
    const authority = await TestAuthority.create();
    const serving = await authority.issue({ names: ['127.0.0.1', 'kubernetes'] });
    const server = await startServer((exchange) => exchange.answer(200, { ok: true }), {
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
      // By a clock of the test it is met to the second; by that of the machine it is met by nobody.
      timeoutMs: time.clock === undefined ? 120_000 : 10_000,
      userAgent: 'snicket/test',
      answerBytes: 1024 * 1024,
      ...time,
    });
  }

  /** Another server, which asks for certificates of the same authority. */
  async mutualServer(): Promise<TestServer> {
    const tls = { ...this.serving, clientCa: this.authority.cert };
    return startServer((exchange) => exchange.answer(200, {}), { tls });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.server[Symbol.asyncDispose]();
    rmSync(this.folder, { recursive: true });
  }
}

/** How it failed. @throws whatever is no KubeError */
export async function errorOf(promise: Promise<unknown>): Promise<KubeError> {
  const error = await promise.then(
    () => new Error('it was answered'),
    (thrown: unknown) => thrown,
  );
  if (isKubeError(error)) return error;
  throw error;
}

/** What a request says of who asks. */
export function tokenOf({ headers }: Exchange): string | undefined {
  return headers.get('authorization')?.replace('Bearer ', '');
}

/** All bytes of a stream, which is closed then. */
export async function allOf(stream: ByteStream): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  for (let part = await stream.read(); part !== undefined; part = await stream.read()) {
    parts.push(part);
  }
  stream.close();
  return Buffer.concat(parts);
}
