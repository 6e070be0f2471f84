/** Reports the progress of long operations. */
export interface Progress {
  /** Updates the state of a running step. On a terminal, it replaces the line before it. */
  update(step: string, detail: string): void;
  /** Ends a step; its line stays. */
  done(step: string, detail: string): void;
}

/** Minimum time between two lines of a step in a log. */
const MIN_INTERVAL_MS = 20_000;

/**
 * Returns a progress reporter with elapsed time. On a terminal it updates one line every second. In a log it prints a
 * line per step at most every 20 seconds.
 */
export function terminalProgress(stream: NodeJS.WriteStream = process.stderr): Progress {
  const began = Date.now();
  const lastPrintedMs = new Map<string, number>();
  let current: { readonly step: string; readonly detail: string } | undefined;
  let clock: Timer | undefined;
  const line = (step: string, detail: string) =>
    `${formatElapsed(Date.now() - began)}  ${step}: ${detail}`;
  const redraw = () => {
    if (!current) return;
    const text = line(current.step, current.detail).slice(0, stream.columns || 80);
    stream.write(`\r\x1b[K${text}`);
  };
  return {
    update(step, detail) {
      if (stream.isTTY) {
        current = { step, detail };
        clock ??= setInterval(redraw, 1_000);
        clock.unref();
        redraw();
        return;
      }
      const now = Date.now();
      if (now - (lastPrintedMs.get(step) ?? 0) < MIN_INTERVAL_MS) return;
      lastPrintedMs.set(step, now);
      stream.write(`${line(step, detail)}\n`);
    },
    done(step, detail) {
      if (!stream.isTTY) {
        stream.write(`${line(step, detail)}\n`);
        return;
      }
      stream.write(`\r\x1b[K${line(step, detail)}\n`);
      if (current?.step !== step) {
        redraw(); // a step within the current one has ended
        return;
      }
      current = undefined;
      clearInterval(clock);
      clock = undefined;
    },
  };
}

/** Discards the progress. */
export const silentProgress: Progress = { update: () => {}, done: () => {} };

/** Formats a duration as `0:07` or `12:30`. */
export function formatElapsed(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
}
