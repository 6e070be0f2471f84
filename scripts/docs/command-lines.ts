/** The command lines in the code blocks of the documentation. */
import type { CodeBlock } from './pages.ts';

/** A simple command of a shell script. */
export interface CommandLine {
  /** The program and its arguments, without quotes. */
  readonly words: readonly string[];
  readonly line: number;
}

/** A word, or an operator that ends a command. A word may consist of quoted and unquoted parts. */
const TOKEN =
  /(?<operator>\|\|?|&&?|;|\d?>>?&?|<)|(?<word>(?:"[^"]*"|'[^']*'|\$\([^)]*\)|\\.|[^\s"'|&;<>\\])+)/g;

/**
 * Returns the commands in a block of shell, without variable assignments, redirections, comments and here-documents.
 * Supports only the shell syntax that the documentation uses.
 */
export function commandLines({ text, line }: CodeBlock): readonly CommandLine[] {
  const found: CommandLine[] = [];
  const lines = text.split('\n');
  for (let at = 0; at < lines.length; at += 1) {
    const first = at;
    let script = withoutComment(lines[at] ?? '');
    while (at + 1 < lines.length && (script.endsWith('\\') || isInQuotes(script))) {
      at += 1;
      script = `${script.replace(/\\$/, '')} ${withoutComment(lines[at] ?? '')}`;
    }
    const end = /<<-?\s*'?(?<end>\w+)'?/.exec(script)?.groups?.['end'];
    if (end !== undefined) {
      while (at + 1 < lines.length && lines[at + 1]?.trim() !== end) at += 1;
      at += 1;
      script = script.replace(/<<.*$/, '');
    }
    for (const words of simpleCommands(script)) found.push({ words, line: line + first });
  }
  return found;
}

/** Reports whether single quotes are open at the end. */
function isInQuotes(script: string): boolean {
  return script.split("'").length % 2 === 0;
}

/** A comment begins at the start of a word. */
function withoutComment(line: string): string {
  return line.replace(/(?:^|\s)#.*$/, '').trim();
}

function simpleCommands(script: string): readonly (readonly string[])[] {
  const commands: string[][] = [[]];
  let isRedirected = false;
  // A process substitution is a separate command.
  for (const { groups } of script
    .replaceAll(/<\((?<inner>[^)]*)\)/g, '; $<inner>')
    .matchAll(TOKEN)) {
    const { operator, word } = groups ?? {};
    if (operator !== undefined) {
      if (/[<>]/.test(operator)) isRedirected = true;
      else commands.push([]);
      continue;
    }
    if (isRedirected) isRedirected = false;
    else if (word !== undefined) commands.at(-1)?.push(word.replaceAll(/["']|\\(?=.)/g, ''));
  }
  return commands
    .map((words) => words.slice(words.findIndex((word) => !/^\w+=/.test(word))))
    .filter((words) => words.length > 0 && !/^\w+=/.test(words[0] ?? ''));
}
