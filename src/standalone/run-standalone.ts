/**
 * `snicket run` as a process: signals in, an exit code out.
 */
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Logger } from '../telemetry/log.ts';
import { FolderUnreadable } from './folder/fault.ts';
import { listFiles } from './folder/list-files.ts';
import { Standalone, type StandaloneOptions } from './standalone.ts';
import { DATABASE_FILE } from './state/object-database.ts';

/** Runs until it is told to end, and gives the exit code. A second signal ends the process from within. @throws StateRefused, FolderUnreadable */
export async function runStandalone(options: StandaloneOptions, log: Logger): Promise<number> {
  // A name that is mistyped must not leave a state behind. With a state, a folder that is away is no reason to stop.
  if (!existsSync(join(options.state, DATABASE_FILE))) {
    await listFiles(resolve(options.folder), new AbortController().signal);
  }
  const standalone = new Standalone(options, log);
  const told = new AbortController();
  const untilTold = new Promise((resolve) => told.signal.addEventListener('abort', resolve));
  let signals = 0;
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      if (++signals > 1) {
        log.info('ended at once, by a second signal');
        process.exit(0); // waits for nothing: whatever the drain waits for may never come
      }
      told.abort();
    });
  }
  process.on('SIGHUP', () => standalone.gateway.reopenAccessLog());
  try {
    await standalone.start(told.signal);
    await Promise.race([untilTold, standalone.lost()]);
  } catch (error) {
    if (error !== told.signal.reason) {
      await standalone.stop();
      if (error instanceof FolderUnreadable) throw error;
      log.error('snicket cannot go on', { error });
      return 1;
    }
  }
  await standalone.drain();
  log.info('ended');
  return 0;
}
