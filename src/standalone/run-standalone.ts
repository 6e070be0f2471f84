/** Runs `snicket run` as a process: handles signals and returns an exit code. */
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Logger } from '../telemetry/log.ts';
import { FolderUnreadable } from './folder/fault.ts';
import { listFiles } from './folder/list-files.ts';
import { Standalone, type StandaloneOptions } from './standalone.ts';
import { DATABASE_FILE } from './state/object-database.ts';

/**
 * Runs until a signal ends the process, and returns the exit code. A second signal exits at once. @throws StateRefused,
 * FolderUnreadable
 */
export async function runStandalone(options: StandaloneOptions, log: Logger): Promise<number> {
  // Fails for a mistyped folder before a state is created. If a state exists, a missing folder is no error.
  if (!existsSync(join(options.state, DATABASE_FILE))) {
    await listFiles(resolve(options.folder), new AbortController().signal);
  }
  const standalone = new Standalone(options, log);
  const shutdown = new AbortController();
  const shutdownRequested = new Promise((resolve) =>
    shutdown.signal.addEventListener('abort', resolve),
  );
  let signals = 0;
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      if (++signals > 1) {
        log.info('exiting immediately after a second signal');
        process.exit(0); // exit without waiting for the drain, which may never end
      }
      shutdown.abort();
    });
  }
  process.on('SIGHUP', () => standalone.gateway.reopenAccessLog());
  try {
    await standalone.start(shutdown.signal);
    await Promise.race([shutdownRequested, standalone.lost()]);
  } catch (error) {
    if (error !== shutdown.signal.reason) {
      await standalone.stop();
      if (error instanceof FolderUnreadable) throw error;
      log.error('snicket failed', { error });
      return 1;
    }
  }
  await standalone.drain();
  log.info('stopped');
  return 0;
}
