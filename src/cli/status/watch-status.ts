/**
 * `snicket status --watch`: redraws a terminal, or prints a line for each change elsewhere.
 */
import { plainText } from '../../text/plain-text.ts';
import { currentScreen, wrappedText } from '../output/output.ts';
import { ChangeLines } from './change-lines.ts';
import { LiveScreen } from './live-screen.ts';
import { isHealthy, statusViewOf, type StatusView } from './status-view.ts';
import type { LiveStatus, StatusSource } from './status-source.ts';
import type { CommandIo } from '../io/command-io.ts';

/** Interval between two redraws: ages change every second. */
const REDRAW_INTERVAL_MS = 1000;
/** Debounce: changes come in bursts. */
const DEBOUNCE_MS = 100;

/** Returns the text of a status view; `rows` is the height of a screen that is redrawn. */
export type StatusRenderer = (view: StatusView, rows?: number) => string;

/**
 * Shows the status until the signal aborts. `filter` selects what to show. Returns whether everything shown last was
 * healthy.
 */
export async function watchStatus(
  io: CommandIo,
  source: StatusSource,
  render: StatusRenderer,
  signal: AbortSignal,
  filter: (view: StatusView) => StatusView,
): Promise<boolean> {
  using display = isDrawable(io) ? terminalDisplay(io, render) : lineDisplay(io);
  let last: StatusView | undefined;
  let isScheduled = false;
  const show = () => {
    isScheduled = false;
    const status = signal.aborted ? undefined : subscription.current();
    if (status === undefined) return;
    last = filter(statusViewOf(status.objects));
    display.show(last, status);
  };
  const scheduleShow = () => {
    if (isScheduled) return;
    isScheduled = true;
    setTimeout(show, DEBOUNCE_MS);
  };
  const subscription = source.follow(scheduleShow, signal);
  const timer = setInterval(scheduleShow, REDRAW_INTERVAL_MS);
  io.stdout.on('resize', scheduleShow);
  await new Promise((resolve) => signal.addEventListener('abort', resolve));
  clearInterval(timer);
  io.stdout.off('resize', scheduleShow);
  return last !== undefined && isHealthy(last);
}

/** A dumb terminal, such as in an editor, prints escape codes as text. */
function isDrawable(io: CommandIo): boolean {
  return io.stdout.isTTY && io.env['TERM'] !== 'dumb';
}

interface Display extends Disposable {
  show(view: StatusView, status: LiveStatus): void;
}

function terminalDisplay(io: CommandIo, render: StatusRenderer): Display {
  const screen = new LiveScreen(io);
  let staleSince: Date | undefined;
  return {
    show(view, { staleReason }) {
      staleSince = staleReason === undefined ? undefined : (staleSince ?? new Date());
      const head = staleHeading(io, staleReason, staleSince);
      // A terminal of unknown size reports 0.
      const rows = (io.stdout.rows || Infinity) - (head.split('\n').length - 1);
      screen.draw(head + render(view, rows));
    },
    [Symbol.dispose]: () => screen[Symbol.dispose](),
  };
}

/** Returns the heading above outdated objects; empty if they are current. */
function staleHeading(
  io: CommandIo,
  staleReason: string | undefined,
  since: Date | undefined,
): string {
  if (staleReason === undefined || since === undefined) return '';
  const text = `Outdated since ${since.toISOString().slice(11, 19)} UTC: ${staleReason}`;
  return `${wrappedText({ text, color: 'red' }, 0, currentScreen(io))}\n\n`;
}

function lineDisplay(io: CommandIo): Display {
  const lines = new ChangeLines();
  return {
    show(view, { staleReason }) {
      for (const line of lines.next(view, staleReason)) {
        io.stdout.write(`${new Date().toISOString().slice(0, 19)}Z ${plainText(line)}\n`);
      }
    },
    [Symbol.dispose]: () => undefined,
  };
}
