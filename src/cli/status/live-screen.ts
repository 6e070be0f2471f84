/**
 * A terminal that is redrawn, on its alternate screen, so that the previous content is restored at the end.
 */
import type { CommandIo } from '../io/command-io.ts';

const ESCAPE = '\u001B[';
const ENTER = `${ESCAPE}?1049h${ESCAPE}?25l`;
const LEAVE = `${ESCAPE}?25h${ESCAPE}?1049l`;
/** Synchronized updates: a terminal that supports them shows everything in between at once. Others ignore them. */
const [BEGIN, END] = [`${ESCAPE}?2026h`, `${ESCAPE}?2026l`];
const HOME = `${ESCAPE}H`;
const TO_END_OF_LINE = `${ESCAPE}K`;
const TO_END_OF_SCREEN = `${ESCAPE}J`;

/** The alternate screen, until it is disposed. */
export class LiveScreen implements Disposable {
  readonly #io: CommandIo;
  #isOpen = true;
  #drawn = '';
  readonly #close = () => this[Symbol.dispose]();
  /** Restores the terminal at Ctrl-Z, because the shell writes to it next. */
  readonly #pause = () => {
    this.#io.stdout.write(LEAVE);
    this.#io.suspend();
  };
  readonly #resume = () => this.#io.stdout.write(ENTER + this.#drawn);

  constructor(io: CommandIo) {
    this.#io = io;
    // Restores the terminal, whatever ends the process.
    io.signals.once('exit', this.#close);
    io.signals.on('SIGTSTP', this.#pause);
    io.signals.on('SIGCONT', this.#resume);
    io.stdout.write(ENTER);
  }

  /**
   * Draws over the previous text without clearing it, to avoid flicker. Replaces lines that do not fit by their number.
   */
  draw(text: string): void {
    const frame = frameOf(text, this.#io.stdout.rows ?? 0);
    if (!this.#isOpen || frame === this.#drawn) return;
    this.#drawn = frame;
    this.#io.stdout.write(frame);
  }

  [Symbol.dispose](): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#io.signals.off('exit', this.#close);
    this.#io.signals.off('SIGTSTP', this.#pause);
    this.#io.signals.off('SIGCONT', this.#resume);
    this.#io.stdout.write(LEAVE);
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
