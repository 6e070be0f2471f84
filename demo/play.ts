import { parseArgs } from 'node:util';
import { processIo } from '../src/cli/io/process-io.ts';
import { currentScreen } from '../src/cli/output/output.ts';
import { printMessage } from '../src/cli/output/messages.ts';
import { Page } from './page.ts';

/** After this time since Ctrl-C, the process exits with everything that it started. */
const END_MS = 8000;

const CLEAR_LINE = '\r\u001B[K';

/** What a story uses. */
export interface Theatre {
  readonly page: Page;
  /** Aborted by Ctrl-C. */
  readonly signal: AbortSignal;
  /** Whether everything keeps running at the end of the story, so that users can try it. */
  readonly staysUp: boolean;
  /** Disposed of at the end of the story, in reverse order. */
  readonly stack: AsyncDisposableStack;
}

/** The result of a story, while everything that it started still runs. */
export interface Told {
  /** A sentence for each claim that failed. */
  readonly faults: readonly string[];
  /** Resolves when the story cannot continue, with a sentence that says why. */
  readonly broken: Promise<string>;
}

/**
 * Runs a story and exits the process. On a terminal it keeps running until Ctrl-C, so that users can try the commands.
 * Elsewhere, with --once, or with ONCE set, it exits at the end of the story: with 0 if all claims hold, else with 1.
 */
export async function play(tell: (theatre: Theatre) => Promise<Told>): Promise<never> {
  const { values } = parseArgs({ options: { once: { type: 'boolean', default: false } } });
  const staysUp = process.stdout.isTTY && !values.once && !process.env['ONCE'];
  const io = processIo();
  const interruption = new AbortController();
  // A second Ctrl-C terminates the program as usual.
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.once(name, () => {
      interruption.abort(new Error('interrupted; what was started is ended'));
      setTimeout(() => process.exit(1), END_MS);
    });
  }
  const page = new Page(currentScreen(io));
  process.exit(
    await run(tell, { page, signal: interruption.signal, staysUp }).catch((error: unknown) => {
      // Errors after an interrupt are caused by the interrupt.
      const cause: unknown = interruption.signal.aborted ? interruption.signal.reason : error;
      if (process.stderr.isTTY) process.stderr.write(CLEAR_LINE); // the line may show progress
      printMessage(io, `demo: ${cause instanceof Error ? cause.message : String(cause)}`);
      return 1;
    }),
  );
}

/** Runs the story and returns the exit code. */
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
