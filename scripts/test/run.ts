/**
 * Runs the tests that need npm only, one process for each processor, the slowest files first: `run.ts [--update-timings]
 * [PATH...]`. Prints progress, what fails, and a summary with the slowest files; build/test.xml has every test.
 */
import { mkdirSync, rmSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { tallyReport } from '../ci/tally.ts';
import { TestOutput } from './test-output.ts';
import { slowestFiles, summaryText } from './summary.ts';

const FOLDERS = [
  './src',
  './image',
  './deploy',
  './world',
  './demo',
  './bench',
  './scripts',
  './e2e/runner',
];
/** How long each file took when it was last measured, for the order in which they start. */
const TIMINGS = join(import.meta.dir, 'timings.json');
const REPORT = 'build/test.xml';
/** A test waits for states, for a minute at most each. Its own limit is for one that hangs. */
const TEST_TIMEOUT_MS = 150_000;
/** How often a log that is not a terminal gets a line of progress. */
const PROGRESS_MS = 15_000;
const REDRAW_MS = 500;

process.chdir(resolve(import.meta.dir, '../..'));
const { values, positionals } = parseArgs({
  options: { 'update-timings': { type: 'boolean', default: false } },
  allowPositionals: true,
});
const paths = positionals.length > 0 ? positionals : FOLDERS;

mkdirSync('build', { recursive: true });
rmSync(REPORT, { force: true });
const startMs = performance.now();
const child = Bun.spawn(
  [
    process.execPath,
    'test',
    `--parallel=${availableParallelism()}`,
    `--timings=${TIMINGS}`,
    ...(values['update-timings'] ? ['--update-timings'] : []),
    `--timeout=${TEST_TIMEOUT_MS}`,
    '--reporter=junit',
    `--reporter-outfile=${REPORT}`,
    ...paths,
  ],
  { stdin: 'ignore', stdout: 'pipe', stderr: 'pipe', env: { ...process.env, FORCE_COLOR: '0' } },
);
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill(signal));
const output = new TestOutput();
const isTerminal = process.stderr.isTTY;
const elapsedSeconds = () => Math.round((performance.now() - startMs) / 1000);
const showProgress = () => {
  const line = `${elapsedSeconds()} s: ${output.progress()}`;
  process.stderr.write(isTerminal ? `\r\u001B[K${line}` : `${line}\n`);
};
const timer = setInterval(showProgress, isTerminal ? REDRAW_MS : PROGRESS_MS);
// Bun reports on standard error; standard output is what tests print.
await Promise.all([
  read(child.stderr, (line) => output.take(line)),
  read(child.stdout, (line) => [line]),
]);
const exitCode = await child.exited;
clearInterval(timer);
if (isTerminal) process.stderr.write('\r\u001B[K');

const file = Bun.file(REPORT);
const xml = (await file.exists()) ? await file.text() : '';
const cpuSeconds = Math.round(Number(child.resourceUsage()?.cpuTime.total ?? 0) / 1e6);
const times = { seconds: elapsedSeconds(), cpuSeconds };
const tally = tallyReport(xml);
console.log(summaryText(tally, times, slowestFiles(xml)));
if (xml === '') console.log(`error: the test runner wrote no ${REPORT}`);
else if (exitCode !== 0 && tally.failed === 0) {
  console.log(`error: the test runner ended with exit code ${exitCode}, because of an error above`);
}
process.exitCode = exitCode === 0 && xml === '' ? 1 : exitCode;

async function read(
  stream: ReadableStream<Uint8Array>,
  shown: (line: string) => readonly string[],
): Promise<void> {
  const decoder = new TextDecoder();
  let rest = '';
  const show = (line: string) => {
    for (const text of shown(line)) {
      process.stdout.write(`${isTerminal ? '\r\u001B[K' : ''}${text}\n`);
    }
  };
  for await (const chunk of stream) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    lines.forEach(show);
  }
  if (rest !== '') show(rest);
}
