/**
 * Fuzzes the parsers of src/wire against the reference parsers: `make fuzz`, or `run.ts [SECONDS] [--seed N] [--from
 * INPUT]`. Default: 60 seconds. The seed and the number determine an input, so the printed command reproduces a
 * finding.
 */
import { parseArgs } from 'node:util';
import { Campaign, type Finding } from './campaign.ts';

const PROGRESS_MS = 2000;
const INPUTS_PER_ROUND = 500;

const { values, positionals } = commandLine();
const seconds = wholeNumber(positionals[0] ?? '60', 'SECONDS');
const seed = wholeNumber(values.seed, '--seed');
const first = wholeNumber(values.from, '--from');

console.log(`fuzz: ${seconds} s, seed ${seed}`);
const campaign = new Campaign(seed);
const began = performance.now();
let input = first;
let nextProgress = began + PROGRESS_MS;
let finding: Finding | undefined;
for (let now = began; finding === undefined && now - began < seconds * 1000;) {
  for (let round = 0; round < INPUTS_PER_ROUND && finding === undefined; round++) {
    finding = campaign.run(input++);
  }
  now = performance.now();
  if (process.stdout.isTTY && now >= nextProgress) {
    nextProgress += PROGRESS_MS;
    process.stdout.write(`\r${summary(now)}`);
  }
}
if (process.stdout.isTTY) process.stdout.write('\r');

if (finding === undefined) {
  console.log(`${summary(performance.now())}, no difference\n`);
  for (const [outcome, count] of [...campaign.counts].toSorted(([a], [b]) => a.localeCompare(b))) {
    console.log(`${String(count).padStart(10)}  ${outcome}`);
  }
} else {
  console.error(`fuzz: input ${finding.input} of seed ${seed}: ${finding.message}\n`);
  console.error(hexDump(finding.bytes));
  console.error(`\nAgain: fuzz/run.ts 1 --seed ${seed} --from ${finding.input}`);
  process.exitCode = 1;
}

function summary(now: number): string {
  const done = input - first;
  const perMinute = (done / (now - began)) * 60_000;
  return `${done} inputs, ${(perMinute / 1e6).toFixed(2)} million a minute`;
}

function hexDump(bytes: Buffer): string {
  const lines: string[] = [];
  for (let at = 0; at < bytes.length; at += 16) {
    const part = bytes.subarray(at, at + 16);
    const hex = part.toString('hex').replace(/(..)(?!$)/g, '$1 ');
    const text = part.toString('latin1').replace(/[^ -~]/g, '.');
    lines.push(`${at.toString(16).padStart(6, '0')}  ${hex.padEnd(47)}  ${text}`);
  }
  return lines.join('\n');
}

function commandLine() {
  const options = {
    seed: { type: 'string', default: String(Math.floor(Math.random() * 2 ** 32)) },
    from: { type: 'string', default: '0' },
  } as const;
  try {
    return parseArgs({ options, allowPositionals: true });
  } catch (error) {
    return usageError(error instanceof Error ? error.message : String(error));
  }
}

function wholeNumber(text: string, name: string): number {
  const value = Number(text);
  if (text !== '' && Number.isInteger(value) && value >= 0) return value;
  return usageError(`invalid ${name} '${text}': must be a whole number`);
}

function usageError(message: string): never {
  console.error(`fuzz: ${message}`);
  process.exit(2);
}
