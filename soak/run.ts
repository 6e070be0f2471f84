/**
 * `make soak`: runs storms through each engine, one after the other, for the requested time. Each engine runs in a
 * separate process, so that its memory and descriptors are measured separately.
 *
 * An engine fails at the first wrong byte, if a readiness event is lost, if a descriptor leaks, and if its memory in
 * the last third of the time exceeds that in the second third by more than a quarter. Medians are compared, because
 * memory fluctuates with garbage collection. Runs of less than a minute per engine do not check memory, because it
 * still grows during warm-up. If one engine fails, the next engine still runs.
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
/** In a shorter run, the second third would still be warm-up. */
const MIN_FOR_MEMORY_MS = 60_000;
/** Descriptors that an engine keeps for reuse: engine epoll has at most 32 pipes with two descriptors each. */
const REUSED_DESCRIPTORS: Readonly<Record<string, number>> = { epoll: 64 };

const [minutesText = '2', ...extra] = process.argv.slice(2);
const minutes = Number(minutesText);
if (extra.length > 0 || !(minutes > 0)) {
  console.error(
    `error: invalid number of minutes: ${[minutesText, ...extra].join(' ')}\nhint: make soak MINUTES=10`,
  );
  process.exit(2);
}

function megabytes(bytes: number): string {
  return `${(bytes / 2 ** 20).toFixed(1)} MB`;
}

function median(values: readonly number[]): number {
  return values.toSorted((first, second) => first - second)[values.length >> 1] ?? 0;
}

/** Runs one storm after the other. @throws Error if the engine fails. */
async function soak(engine: string, durationMs: number): Promise<string> {
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
  while (performance.now() < startMs + durationMs) {
    storm = new Storm(CONNECTIONS, seed);
    await storm.run(async () => Peer.dial(before.port));
    await child.until(
      ({ open, bufferedBytes }) => open === 0 && bufferedBytes === 0,
      'the end of a storm',
    );
    const mismatches = await storm.mismatches();
    if (mismatches.length > 0) throw new Error(`storm ${seed}: ${mismatches.join('; ')}`);
    bytes += storm.bytesUp + storm.bytesDown;
    backend.peers.length = 0;
    seed++;

    const elapsedMs = performance.now() - startMs;
    const { rssBytes, recoveredEvents } = await child.report('resources');
    thirds[Math.min(2, Math.floor((3 * elapsedMs) / durationMs))]?.push(rssBytes);
    if (recoveredEvents > 0)
      throw new Error(`${recoveredEvents} lost readiness events after storm ${seed - 1}`);
    if (performance.now() < reportMs) continue;
    reportMs += REPORT_MS;
    console.log(
      `  ${Math.round(elapsedMs / 1000)} s: ${(seed - 1) * CONNECTIONS} connections, ${megabytes(bytes)}, ` +
        `memory ${megabytes(rssBytes)}`,
    );
  }
  const after = await child.report('resources');
  const leaked = after.descriptors - before.descriptors;
  if (leaked > (REUSED_DESCRIPTORS[engine] ?? 0))
    throw new Error(`${leaked} leaked file descriptors`);
  const isMemoryChecked = durationMs >= MIN_FOR_MEMORY_MS;
  const [, second = 0, last = 0] = thirds.map(median);
  const memory = `memory ${megabytes(second)} in the second third, ${megabytes(last)} in the last`;
  if (isMemoryChecked && last > GROWTH_LIMIT * second) {
    throw new Error(`memory grew: ${memory}`);
  }
  return (
    `${(seed - 1) * CONNECTIONS} connections, ${megabytes(bytes)}, all bytes correct; ` +
    `${memory}${isMemoryChecked ? '' : NOT_CHECKED}; ` +
    `descriptors ${before.descriptors} before, ${after.descriptors} after`
  );
}

for (const engine of ENGINES.keys()) {
  console.log(`engine ${engine}, ${minutes / ENGINES.size} minutes`);
  try {
    console.log(`  ${await soak(engine, (minutes * 60_000) / ENGINES.size)}`);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    console.error(`  engine ${engine} failed: ${reason}`);
    process.exitCode = 1;
  }
}
