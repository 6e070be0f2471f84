/** Output of the demo: headings, sentences, tables and commands, in color on a terminal. */
import { tableText, type Cell, type Screen } from '../src/cli/output/output.ts';

const BOLD = 1;
const FAINT = 2;
const CYAN = 36;
const INDENT = '  ';

/** A command with a description of its output. */
export interface Command {
  readonly line: string;
  readonly description: string;
}

/** Prints to standard output in the order of the calls. */
export class Page {
  readonly #screen: Screen;

  constructor(screen: Screen) {
    this.#screen = screen;
  }

  /** Prints an empty line and a line in bold. */
  heading(text: string): void {
    this.#write(`\n${this.#styled(BOLD, text)}\n`);
  }

  /** Prints lines unchanged. */
  text(text: string): void {
    this.#write(`${text}\n`);
  }

  /** Prints an empty line and the indented content of a file. */
  file(name: string, text: string): void {
    const lines = text.trimEnd().split('\n');
    const indented = lines.map((line) => `${INDENT}${line}`).join('\n');
    this.#write(`\n${INDENT}${this.#styled(FAINT, `# ${name}`)}\n${indented}\n`);
  }

  /** Prints an empty line and an indented table. */
  table(headings: readonly string[], rows: readonly (readonly Cell[])[]): void {
    const { columns, hasColors } = this.#screen;
    const inner = columns === undefined ? undefined : columns - INDENT.length;
    const lines = tableText(headings, rows, { columns: inner, hasColors }).trimEnd().split('\n');
    this.#write(`\n${lines.map((line) => `${INDENT}${line}`.trimEnd()).join('\n')}\n`);
  }

  /** Prints a description and a command to copy. A terminal wraps a long line, but does not copy the line break. */
  command({ line, description }: Command): void {
    this.#write(`${INDENT}${this.#styled(FAINT, `# ${description}`)}\n`);
    this.#write(`${INDENT}${this.#styled(CYAN, line)}\n`);
  }

  #styled(style: number, text: string): string {
    return this.#screen.hasColors ? `\u001B[${style}m${text}\u001B[0m` : text;
  }

  #write(text: string): void {
    process.stdout.write(text);
  }
}
