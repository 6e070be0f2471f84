/**
 * Runs the examinations, prints the results and sets the exit code.
 */
import type { Command } from 'commander';
import type { ClusterFlags, NamedExposure } from '../flags/management-flags.ts';
import type { CommandIo } from '../io/command-io.ts';
import { EXIT, printMessage } from '../output/messages.ts';
import { currentScreen, valueText, type Output } from '../output/output.ts';
import { withProgress } from '../output/progress.ts';
import { openManagement } from '../sources/open-management.ts';
import { readManagement, type SourceFlags } from '../sources/read-management.ts';
import { READ_TIMEOUT_MS } from '../sources/read-timeout.ts';
import { noExposureText } from '../sources/selected-exposures.ts';
import { preflightText, tallyOfStates, tallyText } from './check-report.ts';
import {
  diagnosisValue,
  examinationText,
  hopsText,
  hopValue,
  tallyOf,
  tallyOfHops,
  unresolvedText,
} from './doctor-report.ts';
import type { Examination } from './examination.ts';
import { examineAll } from './examine-exposures.ts';
import { examineWorker, type WorkerFields } from './from-worker.ts';
import { preflightChecks } from './preflight/checks.ts';
import { readPreflightFacts } from './preflight/read-facts.ts';
import { unresolvedExposures } from './unresolved-exposures.ts';

/** Timeout and output format. */
interface PrintOptions {
  readonly output: Output;
  /** Timeout of each step of a probe, in milliseconds. */
  readonly timeout: number;
}

/** Prints each Exposure as soon as it has been examined. Sets the exit code if anything fails. */
export async function diagnose(
  io: CommandIo,
  exposures: readonly NamedExposure[],
  flags: SourceFlags & PrintOptions,
  command: Command,
): Promise<void> {
  const source = await readManagement(io, exposures, flags, command);
  const { management, choices, isGatewayHere } = source;
  const { output, timeout, operatorNamespace: namespace } = flags;
  const unresolved = unresolvedExposures(management, choices);
  // A control plane without its Exposure is reported as unresolved instead.
  const others = choices.filter(
    (choice) => choice.name === undefined || unresolvedExposures(management, [choice]).length === 0,
  );
  const chosen = source.select(others);
  const screen = currentScreen(io);
  const isTable = output === 'table';
  const examinations: Examination[] = [];
  const { signal } = new AbortController();
  const proxyImage = await source.proxyImage();
  const viewpoint = { management, namespace, proxyImage, isGatewayHere };
  for await (const examination of examineAll(io, chosen, {
    ...viewpoint,
    timeoutMs: timeout,
    signal,
  })) {
    examinations.push(examination);
    if (isTable) io.stdout.write(`${examinationText(examination, screen)}\n`);
  }
  const diagnosis = { examinations, unresolved };
  const tally = tallyOf(diagnosis);
  if (isTable) {
    for (const one of unresolved) io.stdout.write(`${unresolvedText(one, screen)}\n`);
    if (chosen.length === 0 && unresolved.length === 0) printMessage(io, noExposureText(choices));
    else io.stdout.write(tallyText(countText(chosen.length), tally));
  } else {
    io.stdout.write(valueText(diagnosisValue(diagnosis), output));
  }
  if (tally.fail > 0) io.exitCode ??= EXIT.wrong;
}

/** Runs the checks of --pre on the management cluster and prints them. */
export async function preflight(
  io: CommandIo,
  { output, ...flags }: ClusterFlags & PrintOptions,
): Promise<void> {
  const { client } = openManagement(io, flags);
  const reading = readPreflightFacts(client, AbortSignal.timeout(READ_TIMEOUT_MS));
  const checks = preflightChecks(await withProgress(io, `reading ${client.server}`, reading));
  const tally = tallyOfStates(checks);
  io.stdout.write(
    output === 'table'
      ? preflightText(checks, currentScreen(io))
      : valueText({ tally, server: client.server, checks }, output),
  );
  if (tally.fail > 0) io.exitCode = EXIT.wrong;
}

function countText(count: number): string {
  return count === 1 ? '1 Exposure' : `${count} Exposures`;
}

/**
 * Runs the checks of --from-worker on this machine, prints them, and sets the exit code if anything fails.
 *
 * @throws CommandError
 */
export async function diagnoseWorker(
  io: CommandIo,
  fields: WorkerFields,
  { output, timeout }: PrintOptions,
): Promise<void> {
  const { signal } = new AbortController();
  const examining = examineWorker(io, fields, { signal, timeoutMs: timeout });
  const hops = await withProgress(io, `waiting for ${fields.host}`, examining);
  const tally = tallyOfHops(hops);
  const endpoint = `${fields.host}:${fields.edge.port}`;
  if (output === 'table') {
    const head = `this machine  ${endpoint}  edge ${fields.edge.host}`;
    io.stdout.write(`${hopsText(head, hops, currentScreen(io))}\n`);
    io.stdout.write(tallyText('1 machine', tally));
  } else {
    const value = { tally, endpoint, edge: fields.edge.host, hops: hops.map(hopValue) };
    io.stdout.write(valueText(value, output));
  }
  if (tally.fail > 0) io.exitCode = EXIT.wrong;
}
