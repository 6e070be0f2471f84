/** Runs the gateway as a process: handles signals and returns an exit code. */
import type { Logger } from '../telemetry/log.ts';
import { Gateway } from './gateway.ts';
import type { GatewayOptions } from './options.ts';

/** Runs until a signal ends the gateway, and returns the exit code. A second signal exits the process at once. */
export async function runGateway(options: GatewayOptions, log: Logger): Promise<number> {
  const gateway = new Gateway(options, log);
  const stopRequested = Promise.withResolvers<void>();
  let signals = 0;
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      if (++signals > 1) {
        log.info('exiting immediately after a second signal');
        process.exit(0); // exit without waiting for the drain, which may never end
      }
      stopRequested.resolve();
    });
  }
  process.on('SIGHUP', () => gateway.reopenAccessLog());
  try {
    await gateway.start();
    await Promise.race([stopRequested.promise, gateway.lost()]);
  } catch (error) {
    log.error('gateway failed', { error });
    await gateway.stop();
    return 1;
  }
  await gateway.drain();
  log.info('stopped');
  return 0;
}
