/**
 * Runs the tests that need only npm, in several processes, the slowest files first:
 * `run.ts [--update-timings] [PATH...]`. Prints progress, failures and a summary, and writes build/test.xml. A single
 * file runs directly, with the full output of Bun.
 */
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { availableParallelism } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { tallyReport } from '../ci/tally.ts';
import { TestOutput } from './test-output.ts';
import { summaryText, withFaultyFiles } from './summary.ts';

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
/** Last measured duration of each file, which decides the order in which they start. */
const TIMINGS = join(import.meta.dir, 'timings.json');
const MEASURED_TIMINGS = 'build/test-timings.json';
const REPORT = 'build/test.xml';
/**
 * One more than there are processors, because a test spends a third of its time waiting for sockets, timers and other
 * processes.
 */
const PROCESSES = availableParallelism() + 1;
/** Waits in tests fail after at most 200 s. This longer timeout ends a test that hangs. */
const TEST_TIMEOUT_MS = 240_000;
/** Interval of progress lines in a log. */
const PROGRESS_MS = 15_000;
const REDRAW_MS = 500;
const TEST_FILES = new Bun.Glob('**/*.test.ts');

process.chdir(resolve(import.meta.dir, '../..'));
const { values, positionals } = parseArgs({
  options: { 'update-timings': { type: 'boolean', default: false } },
  allowPositionals: true,
});
const paths = positionals.length > 0 ? positionals.map(existingPath) : FOLDERS;
const [singleFile = ''] = paths;
if (paths.length === 1 && statSync(singleFile).isFile()) {
  const single = Bun.spawn([process.execPath, 'test', `--timeout=${TEST_TIMEOUT_MS}`, singleFile], {
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  process.exit(await single.exited);
}
const totalFiles = paths.flatMap((path) =>
  statSync(path).isFile() ? [path] : [...TEST_FILES.scanSync(path)],
).length;

mkdirSync('build', { recursive: true });
rmSync(REPORT, { force: true });
copyFileSync(TIMINGS, MEASURED_TIMINGS);
const startMs = performance.now();
const child = Bun.spawn(
  [
    process.execPath,
    'test',
    `--parallel=${PROCESSES}`,
    '--no-isolate', // with isolation, a fifth of the CPU time would go into loading the same modules for each file
    `--timings=${MEASURED_TIMINGS}`,
    '--update-timings',
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
  const line = `${elapsedSeconds()} s: ${output.progress(totalFiles)}`;
  process.stderr.write(isTerminal ? `\r\u001B[K${line}` : `${line}\n`);
};
const timer = setInterval(showProgress, isTerminal ? REDRAW_MS : PROGRESS_MS);
// Bun reports on standard error; tests print to standard output.
await Promise.all([
  read(child.stderr, (line) => output.take(line)),
  read(child.stdout, (line) => (line.startsWith('bun test v') ? [] : [line])),
]);
const exitCode = await child.exited;
clearInterval(timer);
if (isTerminal) process.stderr.write('\r\u001B[K');

const xml = existsSync(REPORT)
  ? withFaultyFiles(readFileSync(REPORT, 'utf8'), output.faultyFiles)
  : '';
if (output.faultyFiles.size > 0 && xml !== '') writeFileSync(REPORT, xml);
const cpuSeconds = Math.round(Number(child.resourceUsage()?.cpuTime.total ?? 0) / 1e6);
const fileMs = measuredTimings();
console.log(summaryText(xml, { seconds: elapsedSeconds(), cpuSeconds, fileMs }));
if (values['update-timings']) {
  writeFileSync(TIMINGS, `${JSON.stringify({ version: 1, files: fileMs }, undefined, 2)}\n`);
}
if (xml === '') console.log(`error: the test runner wrote no ${REPORT}`);
else if (exitCode !== 0 && tallyReport(xml).failed === 0) {
  console.log(`error: the test runner exited with ${exitCode} because of an error above`);
}
process.exitCode = exitCode === 0 && xml === '' ? 1 : exitCode;

/** Returns the durations of existing files, the longest first. A file that did not run keeps its earlier duration. */
function measuredTimings(): Readonly<Record<string, number>> {
  const { files } = JSON.parse(readFileSync(MEASURED_TIMINGS, 'utf8')) as {
    readonly files: Readonly<Record<string, number>>;
  };
  return Object.fromEntries(
    Object.entries(files)
      .filter(([file]) => existsSync(file))
      .toSorted(([, firstMs], [, secondMs]) => secondMs - firstMs),
  );
}

/** Returns an absolute path. Bun would match a relative path with any part of a file name. */
function existingPath(path: string): string {
  if (existsSync(path)) return resolve(path);
  console.error(`error: no test file or folder ${path}`);
  console.error(
    'hint: use a path relative to the root of the repository, such as T=src/cli/version.test.ts',
  );
  process.exit(2);
}

async function read(
  stream: ReadableStream<Uint8Array>,
  linesToShow: (line: string) => readonly string[],
): Promise<void> {
  const decoder = new TextDecoder();
  let rest = '';
  const show = (line: string) => {
    for (const text of linesToShow(line)) {
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
