/**
 * Runs the end-to-end tests: `run.ts [--all | SCENARIO...]`. A scenario is the name of a test file in this folder; the
 * default is all core scenarios. Each scenario runs in its own process, several at once if the machine has room. Output
 * goes to build/e2e/NAME.log, and to the terminal if the scenario is the only one or fails.
 *
 * --optional-before=TIME skips the optional scenarios that could not start before that time (ISO 8601). With E2E=auto,
 * a machine that cannot run a world is a success with a message; otherwise it is a failure.
 */
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { missingRequirements } from '../world/requirements.ts';
import { removeDeadWorlds, sweepText } from '../world/machine/sweep.ts';
import { baseParts, partsByImportance, type Part } from '../world/parts/catalog.ts';
import { ensureParts, partReady } from '../world/parts/parts.ts';
import { formatElapsed, terminalProgress } from '../world/parts/progress.ts';
import { patience } from '../world/wait.ts';
import { availableInotifyInstances } from '../world/machine/inotify.ts';
import { durationsTable, mergedReport } from './runner/report.ts';
import { availableMemoryMiB, runScenarios, type Outcome } from './runner/run-scenarios.ts';
import { findScenarios, testFile, type Scenario } from './runner/scenarios.ts';
import { IMAGE_VARIABLE, snicketImage } from './snicket-image.ts';

/**
 * Timeout of one test or hook, above the sum of the waits in it. A wait reports which state was not reached, while this
 * timeout reports only that it took too long. Tests and hooks have no other timeout.
 */
const TEST_TIMEOUT_MS = 900_000 * patience;
/** How long a canceled build may take to exit. */
const BUILD_EXIT_MS = 5000;
/** How often a log gets a line about the running scenarios. */
const PROGRESS_MS = 30_000;

const all = findScenarios(import.meta.dir);
const { values, positionals: requested } = parseArgs({
  options: {
    all: { type: 'boolean', default: false },
    'optional-before': { type: 'string' },
  },
  allowPositionals: true,
});
const scenarios = chosenScenarios();
const optionalBefore = timeOf(values['optional-before']);

const build = join(process.cwd(), 'build');
const reportName = ['e2e', ...(values.all ? ['all'] : requested)].join('-');
const reportPath = join(build, `${reportName}.xml`);
const parts: readonly Part[] = [
  ...Object.values(baseParts),
  ...scenarios.flatMap((scenario) => scenario.parts),
];
const missing = await missingRequirements(parts);
if (missing.length > 0) {
  if (process.env['E2E'] !== 'auto') {
    fail(
      `cannot run here:\n  ${missing.join('\n  ')}\nE2E=auto skips the tests where they cannot run.`,
    );
  }
  console.log(`skipped: ${missing.join('; ')}`);
  const reason = missing.join('; ');
  try {
    writeReport(
      scenarios.map((scenario) => ({ scenario, result: 'skipped', reason, seconds: 0 })),
      new Map(),
    );
  } catch (error) {
    console.log(`no report: ${(error as Error).message}`);
  }
  process.exit(0);
}

const logs = join(build, 'e2e');
mkdirSync(logs, { recursive: true });
// Removes reports of an earlier run.
for (const { name } of scenarios) rmSync(join(logs, `${name}.xml`), { force: true });
const isOnly = scenarios.length === 1;
const progress = terminalProgress();
// An interrupt reaches the test processes too, because they belong to the same terminal. This process waits for them
// and then cleans up.
const interrupted = new AbortController();
const children = new Set<Bun.Subprocess>();
process.on('SIGINT', () => interrupted.abort());
process.on('SIGTERM', () => {
  interrupted.abort();
  for (const child of children) child.kill('SIGTERM');
});
const image = await prepareAll().catch((error: unknown) => {
  if (!interrupted.signal.aborted) throw error;
  return fail('interrupted');
});

// Read before the first world starts, because every world reduces it.
const inotifyInstances = availableInotifyInstances();
/** Cancels the build of parts that no remaining scenario needs. */
const unneeded = new AbortController();
interrupted.signal.addEventListener('abort', () => unneeded.abort());
const built = buildMissing(new Set(parts));
const beganMs = performance.now();
const running = new Map<string, number>();
let ended = 0;
const progressTimer = setInterval(() => {
  if (!isOnly) printLine(`${ended} of ${scenarios.length} done; running: ${runningText()}`);
}, PROGRESS_MS);
const outcomes = await runScenarios({
  scenarios,
  prepare: async (scenario) => {
    await Promise.all(scenario.parts.map(async (part) => built.get(part)));
  },
  runTests,
  capacity: () => ({
    maxConcurrent: availableParallelism(),
    inotifyInstances,
    memoryMiB: availableMemoryMiB(),
  }),
  nowMs: () => performance.now(),
  hasTimeForOptional: () => optionalBefore === undefined || Date.now() < optionalBefore,
  onStart({ name }) {
    running.set(name, performance.now());
    if (!isOnly) printLine(`${name} started`);
  },
  onEnd,
  signal: interrupted.signal,
});
clearInterval(progressTimer);
unneeded.abort();
// A download cannot be canceled. It ends with this process.
await Promise.race([Promise.allSettled(built.values()), Bun.sleep(BUILD_EXIT_MS)]);
const reports = new Map<string, string>();
for (const { scenario } of outcomes) {
  const file = Bun.file(join(logs, `${scenario.name}.xml`));
  if (await file.exists()) reports.set(scenario.name, await file.text());
}
writeReport(outcomes, reports);
if (!isOnly) console.log(`\n${durationsTable(outcomes)}`);
for (const swept of await removeDeadWorlds()) console.error(sweepText(swept));
const isPassed = outcomes.every(({ result }) => result !== 'failed') && !interrupted.signal.aborted;
process.exit(isPassed ? 0 : 1);

/** Builds the common parts. Returns the path of the image if several scenarios share it. */
async function prepareAll(): Promise<string | undefined> {
  await ensureParts(Object.values(baseParts), progress, interrupted.signal);
  const archive = isOnly ? undefined : await snicketImage(progress);
  interrupted.signal.throwIfAborted();
  return archive;
}

function chosenScenarios(): readonly Scenario[] {
  const unknown = requested.filter((name) => !all.some((scenario) => scenario.name === name));
  if (unknown.length > 0) {
    const known = all.map(({ name }) => name).join(', ');
    fail(`no scenario '${unknown.join("', '")}'; choose from: ${known}`);
  }
  if (values.all && requested.length > 0)
    fail(`--all and '${requested.join("', '")}' exclude each other`);
  if (requested.length > 0) return all.filter(({ name }) => requested.includes(name));
  return values.all ? all : all.filter(({ isOptional }) => !isOptional);
}

function timeOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const ms = Date.parse(text);
  return Number.isNaN(ms) ? fail(`--optional-before=${text} is not a time; write ISO 8601`) : ms;
}

/** Runs the tests of a scenario in another process. */
async function runTests(scenario: Scenario): Promise<number> {
  const report = join(logs, `${scenario.name}.xml`);
  // Different API servers have the same names and addresses in every world, so kubectl's discovery cache must not be
  // shared.
  const kubectlCache = join(logs, `${scenario.name}.kube-cache`);
  rmSync(kubectlCache, { recursive: true, force: true });
  const log = isOnly ? 'inherit' : openSync(logPath(scenario), 'w');
  const child = Bun.spawn(
    [
      process.execPath,
      'test',
      `--timeout=${TEST_TIMEOUT_MS}`,
      '--reporter=junit',
      `--reporter-outfile=${report}`,
      testFile(import.meta.dir, scenario),
    ],
    {
      stdin: 'ignore',
      stdout: log,
      stderr: log,
      env: {
        ...process.env,
        KUBECACHEDIR: kubectlCache,
        ...(image !== undefined && { [IMAGE_VARIABLE]: image }),
      },
    },
  );
  if (typeof log === 'number') closeSync(log);
  children.add(child);
  const code = await child.exited;
  children.delete(child);
  return code;
}

function onEnd(outcome: Outcome): void {
  const { scenario, result, reason, seconds } = outcome;
  ended++;
  running.delete(scenario.name);
  if (isOnly && reason === undefined) return;
  printLine(
    `${scenario.name} ${result}${reason === undefined ? ` in ${seconds} s` : `: ${reason}`}`,
  );
  if (result !== 'failed' || isOnly || reason !== undefined) return;
  console.log(`\n== log of ${scenario.name}`);
  // Not process.stdout, which loses buffered output on exit if a pipe is full.
  if (existsSync(logPath(scenario))) console.log(readFileSync(logPath(scenario), 'utf8'));
}

function logPath({ name }: Scenario): string {
  return join(logs, `${name}.log`);
}

function runningText(): string {
  const texts = [...running].map(
    ([name, sinceMs]) => `${name} (${formatElapsed(performance.now() - sinceMs)})`,
  );
  return texts.join(', ') || 'none';
}

/** Builds the missing parts one after the other, because a build uses all processors. */
function buildMissing(needed: ReadonlySet<Part>): ReadonlyMap<Part, Promise<void>> {
  const builds = new Map<Part, Promise<void>>();
  let last: Promise<void> = Promise.resolve();
  for (const part of partsByImportance) {
    if (!needed.has(part) || partReady(part)) continue;
    const current = last.then(async () => ensureParts([part], progress, unneeded.signal));
    last = current.catch(() => {}); // the scenario that needs the part reports the failure
    builds.set(part, current);
  }
  return builds;
}

function writeReport(ends: readonly Outcome[], xmlByName: ReadonlyMap<string, string>): void {
  mkdirSync(dirname(reportPath), { recursive: true });
  const merged = ends.map((outcome) => ({ outcome, xml: xmlByName.get(outcome.scenario.name) }));
  writeFileSync(reportPath, mergedReport(merged));
  const summary = ends.map(({ scenario: { name }, result, reason, seconds }) => ({
    name,
    result,
    reason,
    seconds,
  }));
  writeFileSync(join(build, `${reportName}.json`), `${JSON.stringify(summary, null, 2)}\n`);
}

function printLine(line: string): void {
  console.log(`${formatElapsed(performance.now() - beganMs)}  ${line}`);
}

function fail(message: string): never {
  console.error(`e2e: ${message}`);
  process.exit(1);
}
