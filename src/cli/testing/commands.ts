/**
 * For tests only: all commands of the program, as its own help lists them.
 */
import type { Terminal } from './snicket.ts';

/** Returns the help of every command and subcommand by its words. The program itself is the first, without words. */
export async function commandsOf(
  terminal: Terminal,
  words: readonly string[] = [],
): Promise<ReadonlyMap<string, string>> {
  const { stdout } = await terminal.snicket([...words, '--help']);
  const names = listedCommands(stdout);
  const found = new Map([[words.join(' '), stdout]]);
  for (const name of names.filter((one) => one !== 'help')) {
    for (const [below, help] of await commandsOf(terminal, [...words, name])) {
      found.set(below, help);
    }
  }
  return found;
}

/** Returns the names of the commands that a help lists, in all its groups. */
export function listedCommands(help: string): readonly string[] {
  const lists = help.matchAll(/^(?:Components|.*[Cc]ommands):\n((?: .*\n)+)/gm);
  return [...lists].flatMap(([, listed = '']) =>
    [...listed.matchAll(/^ {2}([a-z][-a-z]*)/gm)].map(([, name = '']) => name),
  );
}
