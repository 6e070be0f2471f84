/**
 * For tests only: a network of its own, where every user is root and nothing of the machine can be broken.
 */
import { resolve } from 'node:path';

const main = resolve(import.meta.dir, '../../main.ts');

/** Defines the commands of scripts, and sets up what every node has. */
const PREAMBLE = `
  set -u
  snicket() { "$BUN" "$MAIN" "$@" 2>&1; }
  ip link set lo up`;

/** What a script printed, line by line, and how it ended. */
export interface ScriptResult {
  readonly lines: readonly string[];
  readonly exitCode: number | null;
}

/** Runs a script of the shell there, to its end. */
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

/** Why there can be no such network here; nothing if there can. */
export function whyNoNamespace(): string | undefined {
  for (const program of ['unshare', 'ip']) {
    if (Bun.which(program) === null) return `there is no program ${program}`;
  }
  const tried = Bun.spawnSync(['unshare', '-rn', 'ip', 'link', 'set', 'lo', 'up']);
  return tried.exitCode === 0 ? undefined : `unshare -rn: ${tried.stderr.toString().trim()}`;
}
