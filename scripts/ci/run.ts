/**
 * Runs CI: lint, test and e2e-all, even if one of them fails. It builds the parts of worlds while tests without worlds
 * run. An optional end-to-end scenario starts only within {@link OPTIONAL_MINUTES}; the output lists the skipped
 * scenarios. The last line counts the tests. The exit code is 0 only if every command passed and wrote its report.
 */
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, rmSync } from 'node:fs';
import { stepsTable, type StepRow } from './steps-table.ts';
import { sentence, tallySteps, type Step } from './tally.ts';

/** Time since the start of the run in which an optional scenario may still start. */
const OPTIONAL_MINUTES = 65;

/** Time after SIGTERM at which a build is killed. */
const END_MS = 5000;

/** A scenario in the summary that `make e2e-all` writes. */
interface ScenarioSummary {
  readonly name: string;
  readonly result: 'passed' | 'failed' | 'skipped';
  readonly reason?: string;
  readonly seconds: number;
}

const E2E_SUMMARY = 'build/e2e-all.json';
const PARTS_LOG = 'build/parts.log';

const began = new Date();
const steps: Step[] = [];
const rows: StepRow[] = [];

mkdirSync('build', { recursive: true });
rmSync(E2E_SUMMARY, { force: true, recursive: true });
const build = startBuild();
let current: Bun.Subprocess | undefined;
/** After an interrupt, the running step ends early and later steps do not run. All of them count as failed. */
let isInterrupted = false;
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    isInterrupted = true;
    signalBuild(build.child, 'SIGTERM');
    current?.kill('SIGTERM');
  });
}
await step('lint', ['make', 'lint']);
await step('test', ['make', 'test'], 'build/test.xml');
const optionalBefore = new Date(began.getTime() + OPTIONAL_MINUTES * 60_000).toISOString();
await step(
  'e2e-all',
  ['make', 'e2e-all', `OPTIONAL_BEFORE=${optionalBefore}`],
  'build/e2e-all.xml',
);
const scenarios = readSummary();
await endBuild(build);

console.log(`\n${stepsTable([...rows, ...scenarios.map(scenarioRow)])}`);
const skipped = scenarios.filter(({ result }) => result === 'skipped');
for (const { name, reason } of skipped) console.log(`left out: ${name} (${reason})`);
const total = tallySteps(steps);
console.log(sentence(total));
process.exitCode = total.failed === 0 ? 0 : 1;

/** Runs a command to completion. `report` is the JUnit file that it writes, if any. */
async function step(name: string, argv: readonly string[], report?: string): Promise<void> {
  if (isInterrupted) {
    steps.push({ exitCode: 1, report: 'none' });
    rows.push({ name, result: 'not run, because of an interrupt' });
    return;
  }
  console.log(`\n== ${argv.join(' ')}`);
  // A report of an earlier run must not count for this one.
  if (report !== undefined) rmSync(report, { force: true, recursive: true });
  const startMs = performance.now();
  const child = Bun.spawn([...argv], { stdio: ['ignore', 'inherit', 'inherit'] });
  current = child;
  const exitCode = await child.exited;
  const seconds = Math.round((performance.now() - startMs) / 1000);
  const cpuSeconds = Math.round(Number(child.resourceUsage()?.cpuTime.total ?? 0) / 1e6);
  steps.push({ exitCode, report: reportText(report) });
  const result = exitCode === 0 ? 'passed' : `FAILED with exit code ${exitCode}`;
  console.log(`-- ${argv.join(' ')}: ${result} in ${seconds} s`);
  rows.push({ name, seconds, cpuSeconds, result });
}

/** Returns the scenarios of `make e2e-all` for the table. Whether they passed is read from the JUnit report. */
function readSummary(): readonly ScenarioSummary[] {
  if (!existsSync(E2E_SUMMARY)) return [];
  try {
    const summary: unknown = JSON.parse(readFileSync(E2E_SUMMARY, 'utf8'));
    if (Array.isArray(summary) && summary.every(isScenarioSummary)) return summary;
    console.log(`-- ${E2E_SUMMARY} is not a list of scenarios`);
  } catch (error) {
    console.log(`-- ${E2E_SUMMARY} cannot be read: ${String(error)}`);
  }
  return [];
}

function isScenarioSummary(value: unknown): value is ScenarioSummary {
  return typeof value === 'object' && value !== null && 'name' in value && 'result' in value;
}

function reportText(path: string | undefined): Step['report'] {
  if (path === undefined) return 'none';
  try {
    return { xml: readFileSync(path, 'utf8') };
  } catch (error) {
    console.log(`-- ${path} cannot be read: ${String(error)}`);
    return 'missing';
  }
}

/** A running build of parts. */
interface Build {
  readonly child: Bun.Subprocess;
  /** Resolves when the row of the build is in the table. */
  readonly reported: Promise<void>;
}

/**
 * Builds all parts in order of importance. If a part fails, the scenario that needs it fails too and reports the
 * reason.
 */
function startBuild(): Build {
  const log = openSync(PARTS_LOG, 'w');
  const startMs = performance.now();
  const child = Bun.spawn(['make', 'parts'], {
    stdio: ['ignore', log, log],
    detached: true, // a process group, so that signals reach all its processes
  });
  closeSync(log);
  const reported = child.exited.then((code) => {
    const seconds = Math.round((performance.now() - startMs) / 1000);
    const result = code === 0 ? 'built beside the tests' : 'not all were built';
    rows.push({ name: 'parts', seconds, result: `${result}, see ${PARTS_LOG}` });
  });
  return { child, reported };
}

/** Terminates a build that is still running: only skipped scenarios need the remaining parts. */
async function endBuild({ child, reported }: Build): Promise<void> {
  signalBuild(child, 'SIGTERM');
  const killTimer = setTimeout(() => signalBuild(child, 'SIGKILL'), END_MS);
  await reported;
  clearTimeout(killTimer);
}

/** Sends a signal to the process group of the build. */
function signalBuild(child: Bun.Subprocess, signal: NodeJS.Signals): void {
  if (child.exitCode !== null || child.signalCode !== null) return;
  try {
    process.kill(-child.pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error; // the build has just ended
  }
}

function scenarioRow({ name, result, seconds }: ScenarioSummary): StepRow {
  return { name: `  e2e ${name}`, seconds: result === 'skipped' ? undefined : seconds, result };
}
