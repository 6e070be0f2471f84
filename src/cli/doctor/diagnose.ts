/**
 * Runs the examinations, prints the results and sets the exit code.
 */
import type { ManagementSnapshot } from '../../management/management-snapshot.ts';
import { selectedOf, noExposureText } from '../sources/selected-exposures.ts';
import type { Choice } from '../flags/management-flags.ts';
import { currentScreen, valueText, type Output } from '../output/output.ts';
import { EXIT } from '../plans/plans.ts';
import { withProgress } from '../output/progress.ts';
import { printMessage } from '../output/messages.ts';
import {
  diagnosisValue,
  examinationText,
  hopsText,
  hopValue,
  tallyOf,
  tallyOfHops,
  tallyText,
  unresolvedText,
} from './doctor-report.ts';
import type { Examination } from './examination.ts';
import { examineAll } from './examine-exposures.ts';
import { examineWorker, type WorkerFields } from './from-worker.ts';
import { unresolvedExposures } from './unresolved-exposures.ts';
import type { CommandIo } from '../io/command-io.ts';

/** Timeout and output format. */
export interface PrintOptions {
  readonly output: Output;
  /** Timeout of each step of a probe, in seconds. */
  readonly timeout: number;
}

/** Options of {@link diagnose}. */
export interface DiagnoseOptions extends PrintOptions {
  /** Namespace of the operator. */
  readonly namespace: string;
  readonly proxyImage: string;
  /** Whether the gateway is on this machine, as with `snicket run`. Default false. */
  readonly isGatewayHere?: boolean;
}

/** Prints each Exposure as soon as it has been examined. Sets the exit code if anything fails. */
export async function diagnose(
  io: CommandIo,
  management: ManagementSnapshot,
  choices: readonly Choice[],
  { namespace, proxyImage, isGatewayHere, output, timeout }: DiagnoseOptions,
): Promise<void> {
  const unresolved = unresolvedExposures(management, choices);
  const chosen = new Set(
    choices.flatMap((choice) => {
      // A control plane without its Exposure is reported as unresolved instead.
      const isUnresolved =
        choice.name !== undefined && unresolvedExposures(management, [choice]).length > 0;
      return isUnresolved ? [] : selectedOf(management.exposures, choice);
    }),
  );
  const screen = currentScreen(io);
  const isTable = output === 'table';
  const examinations: Examination[] = [];
  const { signal } = new AbortController();
  const viewpoint = { management, namespace, proxyImage, isGatewayHere };
  const options = { ...viewpoint, timeoutMs: timeout, signal };
  for await (const examination of examineAll(io, [...chosen], options)) {
    examinations.push(examination);
    if (isTable) io.stdout.write(`${examinationText(examination, screen)}\n`);
  }
  const diagnosis = { examinations, unresolved };
  const tally = tallyOf(diagnosis);
  if (isTable) {
    for (const one of unresolved) io.stdout.write(`${unresolvedText(one, screen)}\n`);
    if (chosen.size === 0 && unresolved.length === 0) printMessage(io, noExposureText(choices));
    else io.stdout.write(tallyText(countText(chosen.size), tally));
  } else {
    io.stdout.write(valueText(diagnosisValue(diagnosis), output));
  }
  if (tally.fail > 0) io.exitCode = EXIT.wrong;
}

function countText(count: number): string {
  return count === 1 ? '1 Exposure' : `${count} Exposures`;
}

/**
 * Runs the checks of --from-worker on this machine, prints them, and sets the exit code if anything fails.
 *
 * @throws InvalidArguments
 */
export async function diagnoseWorker(
  io: CommandIo,
  words: WorkerFields,
  { output, timeout }: PrintOptions,
): Promise<void> {
  const { signal } = new AbortController();
  const examining = examineWorker(io, words, { signal, timeoutMs: timeout });
  const hops = await withProgress(io, `waiting for ${words.host}`, examining);
  const tally = tallyOfHops(hops);
  const endpoint = `${words.host}:${words.edge.port}`;
  if (output === 'table') {
    const head = `this machine  ${endpoint}  edge ${words.edge.host}`;
    io.stdout.write(`${hopsText(head, hops, currentScreen(io))}\n`);
    io.stdout.write(tallyText('1 machine', tally));
  } else {
    const value = { tally, endpoint, edge: words.edge.host, hops: hops.map(hopValue) };
    io.stdout.write(valueText(value, output));
  }
  if (tally.fail > 0) io.exitCode = EXIT.wrong;
}
