import { say } from './say.ts';
import type { CommandIo } from '../io/command-io.ts';

/** What {@link withProgress} needs. */
export type ProgressIo = Pick<CommandIo, 'stderr' | 'patienceMs'>;

/** What the work gives. If that takes longer than a person waits without a word, a line on standard error says what it is about. */
export async function withProgress<T>(io: ProgressIo, what: string, work: Promise<T>): Promise<T> {
  const timer = setTimeout(() => say(io, `${what}...`), io.patienceMs);
  try {
    return await work;
  } finally {
    clearTimeout(timer);
  }
}
