/** The commands of the documentation. */
import { commandLines, type CommandLine } from './command-lines.ts';
import type { CodeBlock, Page } from './pages.ts';

/** A command line of a page. */
export interface DocumentedLine extends CommandLine {
  readonly page: string;
  /** The output on the page: the next block, if only an empty line separates it from the block of the command. */
  readonly output: string | undefined;
}

/** A command line that runs `snicket`. */
export interface DocumentedCommand extends Pick<DocumentedLine, 'page' | 'line' | 'output'> {
  /** The arguments of `snicket`. */
  readonly words: readonly string[];
}

/** Returns all command lines, page by page. */
export function documentedLines(pages: readonly Page[]): readonly DocumentedLine[] {
  return pages.flatMap(({ path, blocks }) =>
    blocks.filter(isShell).flatMap((block) =>
      commandLines(block).map((command) => ({
        ...command,
        page: path,
        output: outputOf(block, blocks),
      })),
    ),
  );
}

/** Returns the command lines that run `snicket`, except those that are abbreviated with `...`. */
export function snicketCommands(lines: readonly DocumentedLine[]): readonly DocumentedCommand[] {
  return lines.flatMap((line) => {
    const words = snicketWords(line);
    return words === undefined || words.includes('...') ? [] : [{ ...line, words }];
  });
}

/** Returns the arguments of `snicket` if the command line runs it: directly, as a kubectl plugin, or in a pod. */
export function snicketWords({ words }: CommandLine): readonly string[] | undefined {
  const at = words.findIndex((word) => /^(?:\.\/)?snicket$/.test(word));
  const runs = at === 0 || (at > 0 && words[0] === 'kubectl');
  return runs ? words.slice(at + 1) : undefined;
}

function isShell({ language }: CodeBlock): boolean {
  return language === 'sh';
}

function outputOf(block: CodeBlock, blocks: readonly CodeBlock[]): string | undefined {
  // The end of the block, an empty line and the first line of the next block are in between.
  const line = block.line + block.text.split('\n').length + 3;
  const below = blocks.find((next) => next.line === line);
  return below === undefined || isShell(below) ? undefined : below.text;
}
