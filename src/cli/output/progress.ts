import { printMessage } from './messages.ts';
import type { CommandIo } from '../io/command-io.ts';

/** Delay before a progress line, in milliseconds. */
export const PROGRESS_DELAY_MS = 2000;

/** What {@link withProgress} needs. */
export type ProgressIo = Pick<CommandIo, 'stderr' | 'clock'>;

/** Returns what `work` resolves to. Prints a line on standard error if it takes longer than {@link PROGRESS_DELAY_MS}. */
export async function withProgress<T>(io: ProgressIo, what: string, work: Promise<T>): Promise<T> {
  const cancel = io.clock.after(PROGRESS_DELAY_MS, () => printMessage(io, `${what}...`));
  try {
    return await work;
  } finally {
    cancel();
  }
}
