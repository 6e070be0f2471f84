/**
 * `make soak`: runs storms through each engine, one after the other, for the requested time. Each engine runs in a
 * separate process, so its memory and descriptors are measured alone.
 *
 * It fails at the first wrong byte, at a lost edge, at a leaked descriptor, and if memory in the last third is more
 * than a quarter above that in the second third. Memory is only checked in runs of a minute or more per engine, because
 * a shorter one is all warm-up. It compares medians, because memory fluctuates with garbage that is not collected yet.
 * If one engine fails, the next one still runs.
 */
import { EngineProcess } from '../src/engine/conformance/child.ts';
import { ENGINES } from '../src/engine/conformance/engines.ts';
import { NAME } from '../src/engine/conformance/lab.ts';
import { Backend, Peer } from '../src/net/testing/peer.ts';
import { Storm } from '../src/engine/conformance/storm.ts';

const CONNECTIONS = 240;
const REPORT_MS = 10_000;
const NOT_CHECKED = ' (growth is not checked in less than a minute per engine)';
const GROWTH_LIMIT = 1.25;
/** In a shorter run, the engine would still warm up in the second third. */
const LEAST_FOR_MEMORY_MS = 60_000;
/** Descriptors that an engine keeps for reuse: epoll has at most 32 pipes for bulk, of two descriptors each. */
const KEPT_DESCRIPTORS: Readonly<Record<string, number>> = { epoll: 64 };

const [minutesText = '2', ...extra] = process.argv.slice(2);
const minutes = Number(minutesText);
if (extra.length > 0 || !(minutes > 0)) {
  console.error(
    `'${[minutesText, ...extra].join(' ')}' is no number of minutes; try: make soak MINUTES=10`,
  );
  process.exit(2);
}

function megabytes(bytes: number): string {
  return `${(bytes / 2 ** 20).toFixed(1)} MB`;
}

function median(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[values.length >> 1] ?? 0;
}

/** Runs one storm after the other. @throws Error that says what went wrong. */
async function soak(engine: string, forMs: number): Promise<string> {
  let storm = new Storm(0, 0);
  using backend = new Backend('127.0.0.1', (peer) => storm.serve(peer));
  const rows = [{ name: NAME, endpoints: [['127.0.0.1', backend.port] as const] }];
  await using child = await EngineProcess.start(engine, rows, { maxFiles: 4096 });
  const before = await child.report('resources');
  const startMs = performance.now();
  let seed = 1;
  let bytes = 0;
  const thirds: [number[], number[], number[]] = [[], [], []];
  let reportMs = startMs + REPORT_MS;
  while (performance.now() < startMs + forMs) {
    storm = new Storm(CONNECTIONS, seed);
    await storm.run(async () => Peer.dial(before.port));
    await child.until(
      ({ open, bufferedBytes }) => open === 0 && bufferedBytes === 0,
      'the end of a storm',
    );
    const wrong = await storm.mismatches();
    if (wrong.length > 0) throw new Error(`storm ${seed}: ${wrong.join('; ')}`);
    bytes += storm.bytesUp + storm.bytesDown;
    backend.peers.length = 0;
    seed++;

    const elapsedMs = performance.now() - startMs;
    const { rssBytes, recoveredEvents } = await child.report('resources');
    thirds[Math.min(2, Math.floor((3 * elapsedMs) / forMs))]?.push(rssBytes);
    if (recoveredEvents > 0)
      throw new Error(`${recoveredEvents} lost edges after storm ${seed - 1}`);
    if (performance.now() < reportMs) continue;
    reportMs += REPORT_MS;
    console.log(
      `  ${Math.round(elapsedMs / 1000)} s: ${(seed - 1) * CONNECTIONS} connections, ${megabytes(bytes)}, ` +
        `memory ${megabytes(rssBytes)}`,
    );
  }
  const after = await child.report('resources');
  const left = after.descriptors - before.descriptors;
  if (left > (KEPT_DESCRIPTORS[engine] ?? 0))
    throw new Error(`${left} file descriptors are left over`);
  const isMemoryChecked = forMs >= LEAST_FOR_MEMORY_MS;
  const [, second = 0, last = 0] = thirds.map(median);
  const memory = `memory ${megabytes(second)} in the second third, ${megabytes(last)} in the last`;
  if (isMemoryChecked && last > GROWTH_LIMIT * second) {
    throw new Error(`it grew: ${memory}`);
  }
  return (
    `${(seed - 1) * CONNECTIONS} connections, ${megabytes(bytes)}, every byte in its place; ` +
    `${memory}${isMemoryChecked ? '' : NOT_CHECKED}; ` +
    `descriptors ${before.descriptors} before, ${after.descriptors} after`
  );
}

for (const engine of ENGINES.keys()) {
  console.log(`engine ${engine}, ${minutes / ENGINES.size} minutes`);
  try {
    console.log(`  ${await soak(engine, (minutes * 60_000) / ENGINES.size)}`);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    console.error(`  engine ${engine} failed: ${why}`);
    process.exitCode = 1;
  }
}
