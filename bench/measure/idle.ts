/** Measures memory: of a program after its start, and with thousands of idle connections. */
import type { Kind } from '../cases.ts';
import type { Lab } from '../lab/lab.ts';
import { IdleLoad } from '../lab/load.ts';
import { openSockets, anonymousBytes, residentBytes } from '../lab/memory.ts';
import { fileLimit } from '../lab/placement.ts';
import { HOST } from '../lab/environment.ts';
import type { Peer } from '../peers/peer.ts';
import { waitFor } from '../../world/wait.ts';
import { warmUp } from './rounds.ts';

/**
 * The first thousand connections fill pools and tables, so only further connections show the cost per connection. JIT
 * compilation would also distort the result (0.69 KB instead of 0.29 KB for the epoll engine), so the program is warmed
 * up first.
 */
const FEW = 1_000;

/** Memory use of a peer. */
export interface IdleMemory {
  readonly peer: string;
  readonly kind: Kind;
  readonly restBytes: number;
  /** Anonymous memory at rest, without the pages of the program file. */
  readonly restOwnBytes: number;
  readonly connections: number;
  /** Resident memory with these connections. */
  readonly idleBytes: number;
  /** Memory per connection beyond the first thousand. */
  readonly bytesPerConnection: number;
}

/** Options of {@link measureIdle}. */
export interface IdleOptions {
  readonly connections: number;
  /** How many times longer than others a peer with a JIT compiler is warmed up. */
  readonly compilingFactor: number;
}

/** Starts a peer for this measurement alone, and stops it afterward. */
export async function measureIdle(
  lab: Lab,
  peer: Peer,
  kind: Kind,
  { connections, compilingFactor }: IdleOptions,
): Promise<IdleMemory> {
  const many = Math.min(connections, Math.floor(fileLimit / 2) - FEW);
  const program = await lab.start(
    `${peer.name}-idle`,
    'tested',
    await peer.launch(lab.environment),
    kind,
  );
  try {
    const restBytes = await settledBytes(program.pid);
    const restOwnBytes = anonymousBytes(program.pid);
    const restSockets = openSockets(program.pid);
    await warmUp(lab, { peer, program }, { kind, load: 'connect' }, compilingFactor);
    const target = { port: program.port, name: HOST, kind };
    const withConnections = async (count: number) => {
      await using load = new IdleLoad(lab.programs.load, target, count, lab.signal);
      const counted = await load.untilIdle();
      if (counted.errors > 0 || counted.completed < count)
        throw new Error(
          `${peer.name}: only ${counted.completed} of ${count} idle connections, ${counted.errors} errors`,
        );
      const open = openSockets(program.pid) - restSockets;
      if (open < 2 * count)
        throw new Error(`${peer.name} has ${open} sockets for ${count} connections`);
      return await settledBytes(program.pid);
    };
    const fewBytes = await withConnections(FEW);
    await waitFor(
      `${peer.name} has closed its connections`,
      () => openSockets(program.pid) < restSockets + FEW,
      { deadlineMs: 10_000, everyMs: 50 },
    );
    const idleBytes = await withConnections(many);
    return {
      peer: peer.name,
      kind,
      restBytes,
      restOwnBytes,
      connections: many,
      idleBytes,
      bytesPerConnection: (idleBytes - fewBytes) / (many - FEW),
    };
  } finally {
    await lab.stop(program);
  }
}

/** Returns the memory once it has stopped changing by more than a few pages, or after a few seconds. */
async function settledBytes(pid: number): Promise<number> {
  let before = residentBytes(pid);
  for (let attempt = 0; attempt < 10; attempt++) {
    await Bun.sleep(200);
    const now = residentBytes(pid);
    if (Math.abs(now - before) < 64 * 1024) return now;
    before = now;
  }
  return before;
}
