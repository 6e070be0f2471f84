/** For tests only: a network namespace with root permissions, which isolates the test from the machine. */
import { resolve } from 'node:path';

const main = resolve(import.meta.dir, '../../main.ts');

/** Defines the function `snicket` for scripts, and sets up the loopback interface. */
const PREAMBLE = `
  set -u
  snicket() { "$BUN" "$MAIN" "$@" 2>&1; }
  ip link set lo up`;

/** The output of a script, line by line, and its exit code. */
export interface ScriptResult {
  readonly lines: readonly string[];
  readonly exitCode: number | null;
}

/** Runs a shell script in a new namespace. */
export async function inNamespace(script: string): Promise<ScriptResult> {
  const child = Bun.spawn(['unshare', '-rn', 'sh', '-c', `${PREAMBLE}\n${script}`], {
    env: { ...process.env, BUN: process.execPath, MAIN: main },
    stdout: 'pipe',
    stderr: 'inherit',
    timeout: 120_000,
  });
  const text = await new Response(child.stdout).text();
  const lines = text.split('\n').filter((line) => line !== '');
  return { lines, exitCode: await child.exited };
}

/** Returns why this machine cannot create a namespace. Undefined if it can. */
export function namespaceProblem(): string | undefined {
  for (const program of ['unshare', 'ip']) {
    if (Bun.which(program) === null) return `there is no program ${program}`;
  }
  const probe = Bun.spawnSync(['unshare', '-rn', 'ip', 'link', 'set', 'lo', 'up']);
  return probe.exitCode === 0 ? undefined : `unshare -rn: ${probe.stderr.toString().trim()}`;
}
