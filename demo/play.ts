import { parseArgs } from 'node:util';
import { processIo } from '../src/cli/io/process-io.ts';
import { currentScreen } from '../src/cli/output/output.ts';
import { printMessage } from '../src/cli/output/messages.ts';
import { Page } from './page.ts';

/** Time after Ctrl-C at which the process exits in any case. */
const EXIT_TIMEOUT_MS = 8000;

const CLEAR_LINE = '\r\u001B[K';

/** Headings of the commands to try. */
export const TRY_IT = 'Try it in another terminal';
export const TRY_IT_ON_A_TERMINAL =
  '\nTo try commands in the demo, run it in a terminal, without ONCE.';

/** The context of a demo. */
export interface DemoContext {
  readonly page: Page;
  /** Aborted by Ctrl-C. */
  readonly signal: AbortSignal;
  /** Whether all programs keep running when the demo is complete, so that users can try the commands. */
  readonly staysUp: boolean;
  /** Disposed of at the end of the demo, in reverse order. */
  readonly stack: AsyncDisposableStack;
}

/** The result of a demo, while everything that it started still runs. */
export interface DemoResult {
  /** A sentence for each claim that failed. */
  readonly failures: readonly string[];
  /** Resolves with a reason when the demo cannot continue. */
  readonly broken: Promise<string>;
}

/**
 * Runs a demo and exits the process. On a terminal it keeps running until Ctrl-C, so that users can try the commands.
 * Elsewhere, with --once, or with ONCE set, it exits at the end of the demo: with 0 if all claims hold, else with 1.
 */
export async function play(demo: (context: DemoContext) => Promise<DemoResult>): Promise<never> {
  const { values } = parseArgs({ options: { once: { type: 'boolean', default: false } } });
  const staysUp = process.stdout.isTTY && !values.once && !process.env['ONCE'];
  const io = processIo();
  const interruption = new AbortController();
  // A second Ctrl-C terminates the program as usual.
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.once(name, () => {
      interruption.abort(new Error('interrupted; stopped everything'));
      setTimeout(() => process.exit(1), EXIT_TIMEOUT_MS);
    });
  }
  const page = new Page(currentScreen(io));
  process.exit(
    await run(demo, { page, signal: interruption.signal, staysUp }).catch((error: unknown) => {
      // Errors after an interrupt are caused by the interrupt.
      const cause: unknown = interruption.signal.aborted ? interruption.signal.reason : error;
      if (process.stderr.isTTY) process.stderr.write(CLEAR_LINE); // the line may show progress
      printMessage(io, `demo: ${cause instanceof Error ? cause.message : String(cause)}`);
      return 1;
    }),
  );
}

/** Runs the demo and returns the exit code. */
async function run(
  demo: (context: DemoContext) => Promise<DemoResult>,
  { page, signal, staysUp }: Omit<DemoContext, 'stack'>,
): Promise<number> {
  await using stack = new AsyncDisposableStack();
  const began = Date.now();
  const { failures, broken } = await demo({ page, signal, staysUp, stack });
  const elapsed = `${((Date.now() - began) / 1000).toFixed(1)} s`;
  for (const failure of failures) page.text(`\n${failure}`);
  const exitCode = failures.length === 0 ? 0 : 1;
  if (!staysUp) return exitCode;

  page.text(
    `\nReady after ${elapsed}. Press Ctrl-C to stop the demo and remove everything it created.`,
  );
  const reason = await Promise.race([broken, aborted(signal)]);
  if (reason === undefined) return exitCode;
  page.text(reason);
  return 1;
}

async function aborted(signal: AbortSignal): Promise<undefined> {
  const { promise, resolve } = Promise.withResolvers<undefined>();
  if (signal.aborted) resolve(undefined);
  signal.addEventListener('abort', () => resolve(undefined));
  return promise;
}
