/** For tests only: the parts of `snicket run` in the process of the test, with a manual clock. */
import { ManualClock } from '../../clock/manual-clock.ts';
import { createLogger } from '../../telemetry/log.ts';
import { Standalone, type StandaloneOptions } from '../standalone.ts';
import { FolderLab, type LogLine } from './folder-lab.ts';

/** The image of the proxy. */
export const PROXY_IMAGE = 'snicket.test/proxy:1';

/** Short, so that no test waits for it. The flags of the command require more. */
const RESYNC_MS = 100;

/** A folder, a state, tenants, and an operator and gateway in this process. */
export class StandaloneLab extends FolderLab {
  /** Clock of the folder: it controls the grace period of missing objects and the polling. */
  readonly clock = new ManualClock();
  #standalone: Standalone | undefined;
  #log: LogLine[] = [];

  /** Starts all parts and waits until they are ready. */
  async start(operator: Partial<StandaloneOptions['operator']> = {}): Promise<void> {
    this.#log = [];
    const log = createLogger({
      write: (line) => void this.#log.push(JSON.parse(line) as LogLine),
    });
    this.#standalone = new Standalone(
      {
        folder: this.folder,
        state: this.state,
        clock: this.clock,
        http: [{ address: '127.0.0.1', port: this.httpPort }],
        gateway: {
          listen: [{ address: '127.0.0.1', port: this.port }],
          workers: 1,
          engine: 'auto',
          proxyProtocol: 'none',
          graceMs: 0,
          drainMs: 0,
          maxConnections: 1000,
          tenantLimits: { connections: 0, connectionsPerSecond: 0 },
        },
        operator: { proxyImage: PROXY_IMAGE, resyncMs: RESYNC_MS, ...operator },
      },
      log,
    );
    await this.#standalone.start(new AbortController().signal);
    await this.until('ready', async () => (await this.http('/readyz')).status === 200);
  }

  /** Stops all parts. */
  async stop(): Promise<void> {
    await this.end();
  }

  /** Advances the clock of the folder until the function returns a value. */
  async untilLater<T>(description: string, observe: () => T | undefined | false): Promise<T> {
    return this.until(description, () => {
      this.clock.advance(1000);
      return observe();
    });
  }

  override get log(): readonly LogLine[] {
    return this.#log;
  }

  protected override async end(): Promise<void> {
    await this.#standalone?.drain();
    this.#standalone = undefined;
  }

  protected override get hasExited(): boolean {
    return false;
  }
}
