/**
 * For tests only: what `snicket run` puts together, in the process of the test, with a clock that the test moves.
 */
import { ManualClock } from '../../clock/manual-clock.ts';
import { createLogger } from '../../telemetry/log.ts';
import { Standalone, type StandaloneOptions } from '../standalone.ts';
import { FolderLab, type LogLine } from './folder-lab.ts';

/** The image of the proxies. */
export const PROXY_IMAGE = 'snicket.test/proxy:1';

/** Often enough that no test waits for it. The flags of the command do not allow so little. */
const RESYNC_MS = 100;

/** A folder, a state, tenants, and operator and gateway over them. */
export class StandaloneLab extends FolderLab {
  /** Of the folder: how long something has been missing from it, and when it is read without an event. */
  readonly clock = new ManualClock();
  #standalone: Standalone | undefined;
  #log: LogLine[] = [];

  /** Starts all of it; done when it is ready. */
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
          proxyProtocol: 'nobody',
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

  /** Ends all of it. */
  async stop(): Promise<void> {
    await this.end();
  }

  /** Waits for what comes only when time has passed for the folder, and lets it pass. */
  async untilLater<T>(what: string, observe: () => T | undefined | false): Promise<T> {
    return this.until(what, () => {
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

  protected override get hasEnded(): boolean {
    return false;
  }
}
