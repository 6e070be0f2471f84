/** For tests only: checks certificates with openssl, where it is installed. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Whether openssl is installed. */
export const hasOpenssl = Bun.which('openssl') !== null;

/** Runs openssl in a folder with these files, and returns its output. */
export function openssl(files: Readonly<Record<string, string>>, ...args: string[]): string {
  const folder = mkdtempSync(join(tmpdir(), 'snicket-openssl-'));
  try {
    for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
    const result = Bun.spawnSync(['openssl', ...args], { cwd: folder, timeout: 10_000 });
    return `${result.stdout.toString()}${result.stderr.toString()}`;
  } finally {
    rmSync(folder, { recursive: true });
  }
}
