/**
 * A terminal whose content is drawn again and again, on the screen that terminals keep apart for that: what was there
 * before is there again at the end.
 */

const ESCAPE = '\u001B[';
const ENTER = `${ESCAPE}?1049h${ESCAPE}?25l`;
const LEAVE = `${ESCAPE}?25h${ESCAPE}?1049l`;
/** A terminal that knows it shows all that is between them at once; others ignore them. */
const [BEGIN, END] = [`${ESCAPE}?2026h`, `${ESCAPE}?2026l`];
const HOME = `${ESCAPE}H`;
const TO_END_OF_LINE = `${ESCAPE}K`;
const TO_END_OF_SCREEN = `${ESCAPE}J`;

/** As much of standard output as is needed. */
export interface LiveOutput {
  readonly rows: number;
  write(text: string): unknown;
}

/** The screen, until it is disposed of. */
export class LiveScreen implements Disposable {
  readonly #output: LiveOutput;
  #isOpen = true;
  #drawn = '';
  readonly #close = () => this[Symbol.dispose]();
  /** Ctrl-Z gives the terminal back to the shell, which will want to write on it. */
  readonly #pause = () => {
    this.#output.write(LEAVE);
    process.kill(process.pid, 'SIGSTOP');
  };
  readonly #resume = () => this.#output.write(ENTER + this.#drawn);

  constructor(output: LiveOutput) {
    this.#output = output;
    // Whatever ends the process, the terminal is as it was.
    process.once('exit', this.#close);
    process.on('SIGTSTP', this.#pause);
    process.on('SIGCONT', this.#resume);
    output.write(ENTER);
  }

  /** Draws over what is there: nothing is cleared first, so nothing flickers. What does not fit is cut off, and said. */
  draw(text: string): void {
    const frame = frameOf(text, this.#output.rows);
    if (!this.#isOpen || frame === this.#drawn) return;
    this.#drawn = frame;
    this.#output.write(frame);
  }

  [Symbol.dispose](): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    process.off('exit', this.#close);
    process.off('SIGTSTP', this.#pause);
    process.off('SIGCONT', this.#resume);
    this.#output.write(LEAVE);
  }
}

function frameOf(text: string, rows: number): string {
  const lines = text.trimEnd().split('\n');
  const isTooLong = rows > 0 && lines.length > rows;
  const kept = isTooLong ? lines.slice(0, rows - 1) : lines;
  const cut = isTooLong ? [`... ${lines.length - kept.length} more lines`] : [];
  const drawn = [...kept, ...cut].map((line) => line + TO_END_OF_LINE).join('\r\n');
  return `${BEGIN}${HOME}${drawn}${TO_END_OF_SCREEN}${END}`;
}
