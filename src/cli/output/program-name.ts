import { basename } from 'node:path';
import type { CommandIo } from '../io/command-io.ts';

/** Set by the launcher of a clone, which is not the program that runs. */
const VARIABLE = 'SNICKET_CALLED';

/** How the program was called, as a person would write it: kubectl calls its plugin `kubectl-snicket`. */
export function programName({
  env,
  argv0,
}: Pick<CommandIo, 'env' | 'argv0'>): 'snicket' | 'kubectl snicket' {
  const called = env[VARIABLE] || argv0;
  return basename(called).startsWith('kubectl-snicket') ? 'kubectl snicket' : 'snicket';
}

/** A help text by that name: the examples in it begin with `snicket COMMAND`. */
export function inNameOf(name: string, text: string, commands: Iterable<string>): string {
  if (name === 'snicket') return text;
  const example = new RegExp(
    `(?<![-\\w./])(?<!kubectl\\s+)snicket (?=(?:${[...commands].join('|')})\\b)`,
    'g',
  );
  return text.replaceAll(example, `${name} `);
}
