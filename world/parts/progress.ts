/** Reports the progress of long operations. */
export interface Progress {
  /** Updates the state of a running step. On a terminal, it replaces the line before it. */
  update(step: string, detail: string): void;
  /** Ends a step; its line stays. */
  done(step: string, detail: string): void;
}

/** Minimum time between two lines of a step where lines cannot be replaced. */
const QUIET_MS = 20_000;

/**
 * Returns progress with elapsed time. On a terminal it is one changing line, whose clock keeps running; in a log it is
 * a line now and then.
 */
export function terminalProgress(stream: NodeJS.WriteStream = process.stderr): Progress {
  const began = Date.now();
  const lastSpoken = new Map<string, number>();
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
      if (now - (lastSpoken.get(step) ?? 0) < QUIET_MS) return;
      lastSpoken.set(step, now);
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

/** Progress that is discarded. */
export const silentProgress: Progress = { update: () => {}, done: () => {} };

/** Formats a duration as `0:07` or `12:30`. */
export function formatElapsed(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
}
