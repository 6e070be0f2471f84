/**
 * The gateway as a process: signals in, an exit code out.
 */
import type { Logger } from '../telemetry/log.ts';
import { Gateway } from './gateway.ts';
import type { GatewayOptions } from './options.ts';

/** Runs until it is told to end, and gives the exit code. A second signal ends the process from within. */
export async function runGateway(options: GatewayOptions, log: Logger): Promise<number> {
  const gateway = new Gateway(options, log);
  const told = Promise.withResolvers<void>();
  let signals = 0;
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      if (++signals > 1) {
        log.info('ended at once, by a second signal');
        process.exit(0); // waits for nothing: whatever the drain waits for may never come
      }
      told.resolve();
    });
  }
  process.on('SIGHUP', () => gateway.reopenAccessLog());
  try {
    await gateway.start();
    await Promise.race([told.promise, gateway.lost()]);
  } catch (error) {
    log.error('the gateway cannot go on', { error });
    await gateway.stop();
    return 1;
  }
  await gateway.drain();
  log.info('ended');
  return 0;
}
