/**
 * Measures the cost of a world: `make bench-world`, or `world.ts RUNS`. Starts and stops a management cluster and two
 * tenants with a worker each, RUNS times (default 3). The results are informational: slowness does not fail the run.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import { join } from 'node:path';
import { missingRequirements } from '../world/requirements.ts';
import { baseParts } from '../world/parts/catalog.ts';
import { ensureParts } from '../world/parts/parts.ts';
import { terminalProgress } from '../world/parts/progress.ts';
import { table } from '../world/screen.ts';
import { memoryOf } from '../world/status.ts';
import { World } from '../world/world.ts';

const runs = Number(process.argv[2] ?? 3);
if (!Number.isInteger(runs) || runs < 1)
  throw new Error(`'${process.argv[2]}' is not a number of runs`);
const missing = await missingRequirements();
if (missing.length > 0) {
  console.error(`bench-world: cannot run here:\n  ${missing.join('\n  ')}`);
  process.exit(1);
}
const progress = terminalProgress();
await ensureParts(Object.values(baseParts), progress);

interface Result {
  readonly startSeconds: number;
  readonly memoryMegabytes: number;
  readonly endSeconds: number;
}

const results: Result[] = [];
for (let run = 1; run <= runs; run++) {
  const began = performance.now();
  const world = await World.start({ tenants: { a: {}, b: {} } });
  const started = performance.now();
  const memory = memoryOf(world.id);
  const ending = performance.now();
  await world.stop();
  const result = {
    startSeconds: (started - began) / 1000,
    memoryMegabytes: memory / 1e6,
    endSeconds: (performance.now() - ending) / 1000,
  };
  results.push(result);
  progress.done(
    `run ${run}`,
    `start ${result.startSeconds.toFixed(1)} s, ${result.memoryMegabytes.toFixed(0)} MB, end ${result.endSeconds.toFixed(1)} s`,
  );
}

const medians = {
  startSeconds: median('startSeconds'),
  memoryMegabytes: median('memoryMegabytes'),
  endSeconds: median('endSeconds'),
};
console.log(
  `\nManagement cluster and two tenants with a worker each; ${machine()}; median of ${runs}\n`,
);
console.log(
  table([
    ['START', 'MEMORY (PSS)', 'END'],
    [
      `${medians.startSeconds.toFixed(1)} s`,
      `${medians.memoryMegabytes.toFixed(0)} MB`,
      `${medians.endSeconds.toFixed(1)} s`,
    ],
  ]).join('\n'),
);
const folder = join(import.meta.dir, '..', 'build');
mkdirSync(folder, { recursive: true });
writeFileSync(
  join(folder, 'bench-world.json'),
  JSON.stringify({ machine: machine(), results, medians }, undefined, 2),
);

function median(key: keyof Result): number {
  const sorted = results.map((result) => result[key]).toSorted((x, y) => x - y);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}

function machine(): string {
  return `${cpus().length} cores (${cpus()[0]?.model ?? 'unknown'}), ${Math.round(totalmem() / 2 ** 30)} GiB`;
}
