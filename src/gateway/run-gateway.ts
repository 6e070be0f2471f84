/**
 * The gateway as a process: signals in, an exit code out.
 */
import type { Logger } from '../telemetry/log.ts';
import { Gateway } from './gateway.ts';
import type { GatewayOptions } from './options.ts';

/** Runs until it is told to end, and gives the exit code. */
export async function runGateway(options: GatewayOptions, log: Logger): Promise<number> {
  const gateway = new Gateway(options, log);
  const first = new AbortController();
  const second = new AbortController();
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => (first.signal.aborted ? second : first).abort());
  }
  process.on('SIGHUP', () => gateway.reopenAccessLog());
  try {
    await gateway.start();
    await Promise.race([aborted(first.signal), gateway.lost()]);
  } catch (error) {
    log.error('the gateway cannot go on', { error });
    await gateway.stop();
    return 1;
  }
  await gateway.drain(second.signal);
  log.info('ended');
  return 0;
}

async function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  signal.addEventListener('abort', () => resolve());
  await promise;
}
