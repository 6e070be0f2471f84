import type { CommandIo } from './command-io.ts';

/** Resolves at the next SIGTERM or SIGINT. */
export async function signaled({ signals }: Pick<CommandIo, 'signals'>): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  for (const signal of ['SIGTERM', 'SIGINT'] as const) signals.once(signal, () => resolve());
  await promise;
}
