/**
 * A terminal whose content is drawn again and again, on the screen that terminals keep apart for that: what was there
 * before is there again at the end.
 */
import type { CommandIo } from '../io/command-io.ts';

const ESCAPE = '\u001B[';
const ENTER = `${ESCAPE}?1049h${ESCAPE}?25l`;
const LEAVE = `${ESCAPE}?25h${ESCAPE}?1049l`;
/** A terminal that knows it shows all that is between them at once; others ignore them. */
const [BEGIN, END] = [`${ESCAPE}?2026h`, `${ESCAPE}?2026l`];
const HOME = `${ESCAPE}H`;
const TO_END_OF_LINE = `${ESCAPE}K`;
const TO_END_OF_SCREEN = `${ESCAPE}J`;

/** The screen, until it is disposed of. */
export class LiveScreen implements Disposable {
  readonly #io: CommandIo;
  #isOpen = true;
  #drawn = '';
  readonly #close = () => this[Symbol.dispose]();
  /** Ctrl-Z gives the terminal back to the shell, which will want to write on it. */
  readonly #pause = () => {
    this.#io.stdout.write(LEAVE);
    this.#io.suspend();
  };
  readonly #resume = () => this.#io.stdout.write(ENTER + this.#drawn);

  constructor(io: CommandIo) {
    this.#io = io;
    // Whatever ends the process, the terminal is as it was.
    io.signals.once('exit', this.#close);
    io.signals.on('SIGTSTP', this.#pause);
    io.signals.on('SIGCONT', this.#resume);
    io.stdout.write(ENTER);
  }

  /** Draws over what is there: nothing is cleared first, so nothing flickers. What does not fit is cut off, and said. */
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
