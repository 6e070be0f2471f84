import { basename } from 'node:path';
import type { CommandIo } from '../io/command-io.ts';

/** Set by the launcher in a clone of the repository, where argv0 is Bun. */
const VARIABLE = 'SNICKET_CALLED';

/** Returns how the user called the program: kubectl starts its plugin as `kubectl-snicket`. */
export function programName({
  env,
  argv0,
}: Pick<CommandIo, 'env' | 'argv0'>): 'snicket' | 'kubectl snicket' {
  const called = env[VARIABLE] || argv0;
  return basename(called).startsWith('kubectl-snicket') ? 'kubectl snicket' : 'snicket';
}

/** Returns a help text with this program name in its examples, which begin with `snicket COMMAND`. */
export function inNameOf(name: string, text: string, commands: Iterable<string>): string {
  if (name === 'snicket') return text;
  const example = new RegExp(
    `(?<![-\\w./])(?<!kubectl\\s+)snicket (?=(?:${[...commands].join('|')})\\b)`,
    'g',
  );
  return text.replaceAll(example, `${name} `);
}
