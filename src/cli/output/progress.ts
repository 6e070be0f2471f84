import { say } from './say.ts';
import type { CommandIo } from '../io/command-io.ts';

/** A person waits without a word for so long. */
const PATIENCE_MS = 2000;

/** What the work gives. If that takes longer than two seconds, a line on standard error says what it is about. */
export async function withProgress<T>(
  io: Pick<CommandIo, 'stderr'>,
  what: string,
  work: Promise<T>,
  patienceMs = PATIENCE_MS,
): Promise<T> {
  const timer = setTimeout(() => say(io, `${what}...`), patienceMs);
  try {
    return await work;
  } finally {
    clearTimeout(timer);
  }
}
