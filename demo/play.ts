import { parseArgs } from 'node:util';
import { processIo } from '../src/cli/io/process-io.ts';
import { currentScreen } from '../src/cli/output/output.ts';
import { say } from '../src/cli/output/say.ts';
import { Page } from './page.ts';

/** What has not ended so long after Ctrl-C ends with the process, and so does what it started. */
const END_MS = 8000;

const CLEAR_LINE = '\r\u001B[K';

/** What a story is told with. */
export interface Theatre {
  readonly page: Page;
  /** Aborted by Ctrl-C. */
  readonly signal: AbortSignal;
  /** Whether all goes on to run when the story is told, so that people can try it. */
  readonly staysUp: boolean;
  /** What is put here is ended with the story, in the opposite order. */
  readonly stack: AsyncDisposableStack;
}

/** A story that has been told, while all that it has started still runs. */
export interface Told {
  /** What was not as the story says, in sentences. */
  readonly faults: readonly string[];
  /** Comes true when it cannot go on, as a sentence that says why. */
  readonly broken: Promise<string>;
}

/**
 * Tells a story and ends the process. On a terminal it stays until Ctrl-C, so that people can try what they have seen.
 * Elsewhere, with --once, or with ONCE set, it ends when all is told: with code 0 if everything was as it says, else 1.
 */
export async function play(tell: (theatre: Theatre) => Promise<Told>): Promise<never> {
  const { values } = parseArgs({ options: { once: { type: 'boolean', default: false } } });
  const staysUp = process.stdout.isTTY && !values.once && !process.env['ONCE'];
  const io = processIo();
  const interruption = new AbortController();
  // A second Ctrl-C ends the program as usual.
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.once(name, () => {
      interruption.abort(new Error('interrupted; what was started is ended'));
      setTimeout(() => process.exit(1), END_MS);
    });
  }
  const page = new Page(currentScreen(io));
  process.exit(
    await run(tell, { page, signal: interruption.signal, staysUp }).catch((error: unknown) => {
      // What fails after an interruption fails because of it.
      const cause: unknown = interruption.signal.aborted ? interruption.signal.reason : error;
      if (process.stderr.isTTY) process.stderr.write(CLEAR_LINE); // it may show how far things got
      say(io, `demo: ${cause instanceof Error ? cause.message : String(cause)}`);
      return 1;
    }),
  );
}

/** The exit code. */
async function run(
  tell: (theatre: Theatre) => Promise<Told>,
  { page, signal, staysUp }: Omit<Theatre, 'stack'>,
): Promise<number> {
  await using stack = new AsyncDisposableStack();
  const began = Date.now();
  const { faults, broken } = await tell({ page, signal, staysUp, stack });
  const elapsed = `${((Date.now() - began) / 1000).toFixed(1)} s`;
  for (const fault of faults) page.text(`\n${fault}`);
  const exitCode = faults.length === 0 ? 0 : 1;
  if (!staysUp) return exitCode;

  page.text(`\nUp after ${elapsed}. Ctrl-C ends it, and nothing is left.`);
  const why = await Promise.race([broken, aborted(signal)]);
  if (why === undefined) return exitCode;
  page.text(why);
  return 1;
}

async function aborted(signal: AbortSignal): Promise<undefined> {
  const { promise, resolve } = Promise.withResolvers<undefined>();
  if (signal.aborted) resolve(undefined);
  signal.addEventListener('abort', () => resolve(undefined));
  return promise;
}
