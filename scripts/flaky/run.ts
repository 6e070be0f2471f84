/**
 * Finds flaky tests. It runs each suite repeatedly under CPU load while it pauses processes, and lists the failures:
 * `run.ts [--runs=10] [--seed=N] [--busy-processes=N] [--folder=build/flaky] SUITE...`. A suite is `test`, `e2e`,
 * `e2e-all`, the name of an end-to-end scenario, or the path of a test file or folder. The folder gets the logs, and
 * `report.txt` with all output. The run has its own session, so it continues when the shell that started it ends.
 */
import {
  appendFileSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
} from 'node:fs';
import { availableParallelism } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { Random } from '../../fuzz/random.ts';
import { familyOf, signal as sendSignal } from '../../world/machine/identity.ts';
import { disturb } from './disturbance.ts';
import { lockFolder } from './folder-lock.ts';
import { runInNewSession } from './session.ts';
import { failedTests } from '../ci/failed-tests.ts';

/**
 * Signals within this time count as one interrupt. `systemctl stop` sends a signal to each process, and the first
 * process also forwards its signal.
 */
const ONE_INTERRUPT_MS = 1000;

const root = resolve(import.meta.dir, '../..');
process.chdir(root);
const { values, positionals } = parseArgs({
  options: {
    runs: { type: 'string', default: '10' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    'busy-processes': { type: 'string', default: String(availableParallelism()) },
    folder: { type: 'string', default: 'build/flaky' },
  },
  allowPositionals: true,
});
const runs = wholeNumber('runs', values.runs, 1);
const seed = wholeNumber('seed', values.seed);
const busyProcesses = wholeNumber('busy-processes', values['busy-processes']);
const suites = positionals.length > 0 ? positionals : ['test', 'e2e'];
const { folder } = values;
const report = join(folder, 'report.txt');
for (const suite of suites) commandOf(suite, ''); // refuses an unknown suite before the first run

const exitCode = await runInNewSession();
if (exitCode !== undefined) process.exit(exitCode);
const owner = ownerOfFolder();
if (owner !== undefined) {
  refuse(
    `another run is using ${folder}: ${owner}`,
    'wait until it ends, or end it with kill and its PID',
  );
}
rmSync(report, { force: true });
print(
  `suites ${suites.join(', ')}; ${counted(runs, 'run')} each, seed ${seed}, ${counted(busyProcesses, 'busy process', 'es')}`,
);
// An interrupted suite must not leave a process paused.
const interrupted = new AbortController();
/** Kills a suite that does not end on SIGTERM. */
const killed = new AbortController();
let interruptedMs = 0;
for (const name of ['SIGINT', 'SIGTERM'] as const) process.on(name, interrupt);
const failures = new Map<string, number>();
let passedRuns = 0;
let failedRuns = 0;
for (const suite of suites) {
  for (let run = 1; run <= runs && !interrupted.signal.aborted; run++) await runOnce(suite, run);
}
const isInterrupted = interrupted.signal.aborted;
const result = `${counted(passedRuns, 'run')} passed, ${failedRuns} failed`;
print(`\n${result}${isInterrupted ? ', interrupted' : ''}`);
for (const [test, count] of [...failures].toSorted(
  ([, firstCount], [, secondCount]) => secondCount - firstCount,
)) {
  print(`  ${isInterrupted ? counted(count, 'time') : `${count} of ${runs}`}  ${test}`);
}
process.exitCode = isInterrupted ? 130 : Math.sign(failedRuns);

/** The first interrupt terminates the suite, a later one kills it. */
function interrupt(): void {
  if (!interrupted.signal.aborted) {
    interruptedMs = performance.now();
    print('interrupted: waiting until the suite ends; interrupt again to kill it');
    interrupted.abort();
  } else if (performance.now() - interruptedMs >= ONE_INTERRUPT_MS) {
    killed.abort();
  }
}

/** Creates and locks the folder. If another run uses it, returns what its lock file says about that run. */
function ownerOfFolder(): string | undefined {
  try {
    mkdirSync(folder, { recursive: true });
    return lockFolder(folder);
  } catch (error) {
    return refuse(
      `cannot write to ${folder}: ${(error as Error).message}`,
      'check its owner and permissions',
    );
  }
}

/** Prints a line, and writes it to the report, because the terminal may be closed. */
function print(line: string): void {
  appendFileSync(report, `${line}\n`);
  console.log(line);
}

async function runOnce(suite: string, run: number): Promise<void> {
  const name = `${suite.replaceAll(/[^\w.-]+/g, '_')}-${run}`;
  const { argv, xmlPath } = commandOf(suite, join(folder, `${name}.xml`));
  rmSync(xmlPath, { force: true });
  const logPath = join(folder, `${name}.log`);
  const output = openSync(logPath, 'w');
  const startMs = performance.now();
  const child = Bun.spawn([...argv], { stdio: ['ignore', output, output] });
  closeSync(output);
  const ended = new AbortController();
  const end = () => {
    ended.abort();
    child.kill('SIGTERM');
  };
  const kill = () => {
    for (const identity of familyOf(child.pid)) sendSignal(identity, 'SIGKILL');
  };
  interrupted.signal.addEventListener('abort', end);
  killed.signal.addEventListener('abort', kill);
  const random = new Random(seed, run);
  const disturbance = disturb({ root: child.pid, random, busyProcesses }, ended.signal).catch(
    async (error: unknown) => {
      child.kill('SIGTERM');
      await child.exited;
      throw error;
    },
  );
  const [code, { pauses, pausedMs }] = await Promise.all([
    child.exited.finally(() => ended.abort()),
    disturbance,
  ]);
  interrupted.signal.removeEventListener('abort', end);
  killed.signal.removeEventListener('abort', kill);
  if (interrupted.signal.aborted) return;
  const seconds = Math.round((performance.now() - startMs) / 1000);
  const disturbed = `${counted(pauses, 'pause')}, ${Math.round(pausedMs / 1000)} s in all`;
  const result = code === 0 ? 'passed' : 'FAILED';
  const log = code === 0 ? '' : `; see ${logPath}`;
  print(`${suite} ${run}/${runs}: ${result} in ${seconds} s (${disturbed})${log}`);
  if (code === 0) {
    passedRuns++;
    return;
  }
  failedRuns++;
  const failed = existsSync(xmlPath) ? failedTests(readFileSync(xmlPath, 'utf8')) : [];
  for (const test of failed.length > 0
    ? failed
    : [`${suite}: the report has no failed test, see ${logPath}`]) {
    print(`  ${test}`);
    failures.set(test, (failures.get(test) ?? 0) + 1);
  }
}

/** Returns the command of a suite, and the path of its JUnit report. */
function commandOf(
  suite: string,
  xmlPath: string,
): { readonly argv: readonly string[]; readonly xmlPath: string } {
  if (['test', 'e2e', 'e2e-all'].includes(suite)) {
    return { argv: ['make', suite], xmlPath: `build/${suite}.xml` };
  }
  if (existsSync(`e2e/${suite}.test.ts`)) {
    return { argv: ['make', 'e2e', `T=${suite}`], xmlPath: `build/e2e-${suite}.xml` };
  }
  if (!existsSync(suite)) {
    refuse(
      `unknown suite ${JSON.stringify(suite)}`,
      'name test, e2e, e2e-all, a scenario of e2e/, or the path of a test file or folder',
    );
  }
  const options = ['--timeout=240000', '--reporter=junit', `--reporter-outfile=${xmlPath}`];
  return { argv: [process.execPath, 'test', ...options, resolve(suite)], xmlPath };
}

function counted(count: number, noun: string, plural = 's'): string {
  return `${count} ${noun}${count === 1 ? '' : plural}`;
}

function wholeNumber(flag: string, text: string, least = 0): number {
  const value = Number(text);
  if (Number.isSafeInteger(value) && value >= least) return value;
  return refuse(`invalid --${flag}=${text}`, `use a whole number, ${least} or more`);
}

function refuse(reason: string, hint: string): never {
  console.error(`error: ${reason}\nhint: ${hint}`);
  process.exit(2);
}
