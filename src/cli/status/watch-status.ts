/**
 * `snicket status --watch`: redraws a terminal, or prints a line for each change elsewhere.
 */
import { plainText } from '../../text/plain-text.ts';
import { currentScreen, wrappedText } from '../output/output.ts';
import { ChangeLines } from './change-lines.ts';
import { LiveScreen } from './live-screen.ts';
import { isHealthy, statusViewOf, type StatusView } from './status-view.ts';
import type { Followed, StatusSource } from './status-source.ts';
import type { CommandIo } from '../io/command-io.ts';

/** Interval between two redraws: ages change every second. */
const REDRAW_INTERVAL_MS = 1000;
/** Debounce: changes come in bursts. */
const DEBOUNCE_MS = 100;

/** Returns the text of a status view; `rows` is the height of a screen that is redrawn. */
export type Drawing = (view: StatusView, rows?: number) => string;

/**
 * Shows the status until the signal, as far as `narrowed` keeps it. Returns whether everything was healthy at the end.
 */
export async function watchStatus(
  io: CommandIo,
  source: StatusSource,
  drawing: Drawing,
  signal: AbortSignal,
  narrowed: (view: StatusView) => StatusView,
): Promise<boolean> {
  using display = isDrawable(io) ? terminalDisplay(io, drawing) : lineDisplay(io);
  let last: StatusView | undefined;
  let isDue = false;
  const show = () => {
    isDue = false;
    const followed = signal.aborted ? undefined : followedBy.current();
    if (followed === undefined) return;
    last = narrowed(statusViewOf(followed.objects));
    display.show(last, followed);
  };
  const soon = () => {
    if (isDue) return;
    isDue = true;
    setTimeout(show, DEBOUNCE_MS);
  };
  const followedBy = source.follow(soon, signal);
  const timer = setInterval(soon, REDRAW_INTERVAL_MS);
  io.stdout.on('resize', soon);
  await new Promise((resolve) => signal.addEventListener('abort', resolve));
  clearInterval(timer);
  io.stdout.off('resize', soon);
  return last !== undefined && isHealthy(last);
}

/** A dumb terminal, such as in an editor, prints escape codes as text. */
function isDrawable(io: CommandIo): boolean {
  return io.stdout.isTTY && io.env['TERM'] !== 'dumb';
}

interface Display extends Disposable {
  show(view: StatusView, followed: Followed): void;
}

function terminalDisplay(io: CommandIo, drawing: Drawing): Display {
  const screen = new LiveScreen(io);
  let troubleSince: Date | undefined;
  return {
    show(view, { trouble }) {
      troubleSince = trouble === undefined ? undefined : (troubleSince ?? new Date());
      const head = oldText(io, trouble, troubleSince);
      // A terminal of unknown size reports 0.
      const rows = (io.stdout.rows || Infinity) - (head.split('\n').length - 1);
      screen.draw(head + drawing(view, rows));
    },
    [Symbol.dispose]: () => screen[Symbol.dispose](),
  };
}

/** Returns a heading for outdated objects; empty if they are current. */
function oldText(io: CommandIo, trouble: string | undefined, since: Date | undefined): string {
  if (trouble === undefined || since === undefined) return '';
  const text = `Outdated since ${since.toISOString().slice(11, 19)} UTC: ${trouble}`;
  return `${wrappedText({ text, color: 'red' }, 0, currentScreen(io))}\n\n`;
}

function lineDisplay(io: CommandIo): Display {
  const lines = new ChangeLines();
  return {
    show(view, { trouble }) {
      for (const line of lines.next(view, trouble)) {
        io.stdout.write(`${new Date().toISOString().slice(0, 19)}Z ${plainText(line)}\n`);
      }
    },
    [Symbol.dispose]: () => undefined,
  };
}
