/**
 * What the demo prints: headings, sentences, tables, commands. In colour on a terminal.
 */
import { tableText, type Cell, type Screen } from '../src/cli/output/output.ts';

const BOLD = 1;
const FAINT = 2;
const CYAN = 36;
const INDENT = '  ';

/** A command, and what it shows. */
export interface Command {
  readonly line: string;
  readonly shows: string;
}

/** Prints to standard output, in the order of its calls. */
export class Page {
  readonly #screen: Screen;

  constructor(screen: Screen) {
    this.#screen = screen;
  }

  /** A line in bold, and an empty one before it. */
  heading(text: string): void {
    this.#write(`\n${this.#styled(BOLD, text)}\n`);
  }

  /** Lines as they are. */
  text(text: string): void {
    this.#write(`${text}\n`);
  }

  /** What is in a file, indented, and an empty line before it. */
  file(name: string, text: string): void {
    const lines = text.trimEnd().split('\n');
    const indented = lines.map((line) => `${INDENT}${line}`).join('\n');
    this.#write(`\n${INDENT}${this.#styled(FAINT, `# ${name}`)}\n${indented}\n`);
  }

  /** A table, indented, and an empty line before it. */
  table(headings: readonly string[], rows: readonly (readonly Cell[])[]): void {
    const { columns, hasColours } = this.#screen;
    const inner = columns === undefined ? undefined : columns - INDENT.length;
    const lines = tableText(headings, rows, { columns: inner, hasColours }).trimEnd().split('\n');
    this.#write(`\n${lines.map((line) => `${INDENT}${line}`.trimEnd()).join('\n')}\n`);
  }

  /** A command to copy, and before it what it shows. A terminal breaks a long line, but does not copy the break. */
  command({ line, shows }: Command): void {
    this.#write(`${INDENT}${this.#styled(FAINT, `# ${shows}`)}\n`);
    this.#write(`${INDENT}${this.#styled(CYAN, line)}\n`);
  }

  #styled(style: number, text: string): string {
    return this.#screen.hasColours ? `\u001B[${style}m${text}\u001B[0m` : text;
  }

  #write(text: string): void {
    process.stdout.write(text);
  }
}
