/** For tests only: a tenant with its files, and proxies on loopback, disposed of at the end of the test. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ManualClock } from '../../clock/manual-clock.ts';
import { createLogger } from '../../telemetry/log.ts';
import { startProxy, type ProxyMode, type ProxyOptions, type RunningProxy } from '../proxy.ts';
import { ApiServer, type ApiServerOptions } from './api-server.ts';
import { TestAuthority, type Pair } from '../../net/testing/certificates.ts';

/** The tenant's API host. */
export const HOST = 'a.k8s.test';
/** The names that pods use for their API server. */
export const POD_NAMES = ['kubernetes', 'kubernetes.default.svc', '127.0.0.1'];
/** The secret of the tenant. */
export const SECRET = Buffer.alloc(32, 7);

/** Options of {@link Lab.proxy}. All others have a default. */
export type LabProxyOptions = Partial<Omit<ProxyOptions, 'edge'>> & {
  readonly edgeHost?: string;
  readonly edgePort?: number;
  /** The path of a file, instead of host and port. */
  readonly edgeFile?: string;
};

/** A tenant. */
export class Lab implements AsyncDisposable {
  readonly folder = mkdtempSync(join(tmpdir(), 'snicket-proxy-'));
  readonly authority: TestAuthority;
  readonly serving: Pair;
  readonly leaf: Pair;
  /** Does not advance by itself, so only the first probe runs, and nothing times out. */
  readonly clock = new ManualClock();
  readonly lines: string[] = [];
  readonly #stack = new AsyncDisposableStack();

  private constructor(authority: TestAuthority, serving: Pair, leaf: Pair) {
    this.authority = authority;
    this.serving = serving;
    this.leaf = leaf;
    this.write('ca.crt', authority.cert);
    this.writeLeaf(leaf);
    this.write('tenant.key', `${SECRET.toString('base64')}\n`);
  }

  static async create(): Promise<Lab> {
    const authority = await TestAuthority.create();
    const serving = await authority.issue({ commonName: 'kube-apiserver', names: [HOST] });
    return new Lab(authority, serving, await authority.issue({ names: POD_NAMES }));
  }

  path(name: string): string {
    return join(this.folder, name);
  }

  write(name: string, content: string): string {
    writeFileSync(this.path(name), content);
    return this.path(name);
  }

  writeLeaf(leaf: Pair): void {
    this.write('tls.crt', leaf.cert);
    this.write('tls.key', leaf.key);
  }

  async apiServer(options: Partial<ApiServerOptions> = {}): Promise<ApiServer> {
    return this.#stack.use(await ApiServer.start({ serving: this.serving, ...options }));
  }

  terminate(): ProxyMode & { readonly name: 'terminate' } {
    const files = { caFile: 'ca.crt', certFile: 'tls.crt', keyFile: 'tls.key' };
    const paths = Object.entries(files).map(([name, file]) => [name, this.path(file)]);
    return { name: 'terminate', ...(Object.fromEntries(paths) as typeof files) };
  }

  passthrough(): ProxyMode {
    return {
      name: 'passthrough',
      tenantKeyFile: this.path('tenant.key'),
      caFile: this.path('ca.crt'),
    };
  }

  /** Starts a proxy. Default: mode terminate, and the clock of the lab. */
  async proxy(options: LabProxyOptions): Promise<RunningProxy> {
    const proxy = await startProxy({
      mode: this.terminate(),
      listen: [{ address: '127.0.0.1', port: 0 }],
      edge:
        options.edgeFile === undefined
          ? { host: options.edgeHost ?? '127.0.0.1', port: options.edgePort ?? 1 }
          : { file: options.edgeFile },
      serverName: HOST,
      engine: 'bun',
      clock: this.clock,
      log: createLogger({ level: 'debug', write: (line) => this.lines.push(line) }),
      ...options,
    });
    this.#stack.defer(() => proxy.stop());
    return proxy;
  }

  /** Disposes of another resource at the end of the test. */
  use<Resource extends Disposable | AsyncDisposable>(resource: Resource): Resource {
    return this.#stack.use(resource);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stack.disposeAsync();
    rmSync(this.folder, { recursive: true });
  }
}
