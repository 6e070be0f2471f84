/** Says what is going on while something takes long. */
export interface Progress {
  /** The state of a running step; on a terminal it replaces the line before it. */
  update(step: string, detail: string): void;
  /** A step has ended; the line stays. */
  done(step: string, detail: string): void;
}

/** How often a step may speak where lines cannot be replaced. */
const QUIET_MS = 20_000;

/**
 * Progress with elapsed time, for people: one changing line on a terminal, a line now and then in a log.
 */
export function terminalProgress(stream: NodeJS.WriteStream = process.stderr): Progress {
  const began = Date.now();
  const lastSpoken = new Map<string, number>();
  const elapsed = () => formatElapsed(Date.now() - began);
  return {
    update(step, detail) {
      if (stream.isTTY) {
        stream.write(
          `\r\x1b[K${elapsed()}  ${step}: ${detail}`.slice(0, (stream.columns ?? 80) + 4),
        );
        return;
      }
      const now = Date.now();
      if (now - (lastSpoken.get(step) ?? 0) < QUIET_MS) return;
      lastSpoken.set(step, now);
      stream.write(`${elapsed()}  ${step}: ${detail}\n`);
    },
    done(step, detail) {
      stream.write(`${stream.isTTY ? '\r\x1b[K' : ''}${elapsed()}  ${step}: ${detail}\n`);
    },
  };
}

/** Progress for those who do not want to hear. */
export const silentProgress: Progress = { update: () => {}, done: () => {} };

/** `0:07`, `12:30`. */
export function formatElapsed(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
}
