import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

/**
 * Creates an empty folder beside `folder` for unfinished files. Each process has a separate folder, because the child
 * processes of a killed process may still write to it. Removes the folders of dead processes.
 */
export function workFolder(folder: string): string {
  const prefix = `.${basename(folder)}-`;
  mkdirSync(dirname(folder), { recursive: true });
  for (const name of readdirSync(dirname(folder)).filter((entry) => entry.startsWith(prefix))) {
    const pid = name.slice(prefix.length);
    if (pid === String(process.pid) || !existsSync(`/proc/${pid}`)) {
      rmSync(join(dirname(folder), name), { recursive: true, force: true });
    }
  }
  const work = join(dirname(folder), `${prefix}${process.pid}`);
  mkdirSync(work);
  return work;
}
