/** Parses the command line of the bench: `run.ts [--quick] [--peers a,b] [--cases a,b]`. */
import { parseArgs } from 'node:util';
import { ALL_CASES, type Case, isChosen, type Kind, OTHER_CASES } from './cases.ts';
import type { LoadTime } from './lab/load.ts';

/** The options of a run. */
export interface Options {
  readonly mode: 'quick' | 'full';
  /** Names of the peers. */
  readonly peers: readonly string[];
  readonly cases: readonly Case[];
  /** Ids of the measurements of memory and routes. */
  readonly otherCases: readonly string[];
  readonly repetitions: number;
  /** How many times longer than others a peer with a JIT compiler is warmed up. */
  readonly compilingFactor: number;
  readonly time: LoadTime;
  /** Peers whose memory is measured. */
  readonly memoryPeers: readonly string[];
  /** Number of idle connections for the memory measurement. */
  readonly idleConnections: Readonly<Record<Kind, number>>;
}

/** Cases that a quick run skips, because they add the least information. */
const NOT_QUICK = ['gateway.tls', 'upload'];
const NOT_QUICK_PEERS = ['haproxy-splice'];
/** Prefixes of the peers whose memory a quick run measures. */
const QUICK_MEMORY = ['haproxy', 'snicket'];

const PACE = {
  quick: {
    repetitions: 4,
    compilingFactor: 6,
    time: { warmUpMs: 100, durationMs: 250 },
    // Each TLS connection takes a terminating proxy, the client and the backend milliseconds.
    idleConnections: { plain: 9_000, tls: 2_000 },
  },
  full: {
    repetitions: 9,
    // The JIT compilers of a JavaScript engine are active for some 40,000 connections, and their CPU time counts.
    compilingFactor: 25,
    time: { warmUpMs: 200, durationMs: 600 },
    idleConnections: { plain: 9_000, tls: 9_000 },
  },
} as const;

/** An invalid command line. */
export class OptionsError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'OptionsError';
  }
}

/** Parses the command line. @throws OptionsError for an unknown peer or case. */
export function parseOptions(args: readonly string[], knownPeers: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...args],
    options: {
      quick: { type: 'boolean', default: false },
      peers: { type: 'string' },
      cases: { type: 'string' },
    },
  });
  const mode = values.quick ? 'quick' : 'full';
  const isSkipped = (id: string) =>
    values.quick && NOT_QUICK.some((choice) => isChosen(id, choice));
  const peerChoice = list(values.peers);
  const caseChoice = list(values.cases);
  const ids = [...ALL_CASES.map((benchCase) => benchCase.id), ...OTHER_CASES];
  for (const choice of caseChoice) {
    if (!ids.some((id) => isChosen(id, choice)))
      throw new OptionsError(`no case '${choice}'; there are ${ids.join(', ')}, and words of them`);
  }
  for (const name of peerChoice) {
    if (!knownPeers.includes(name))
      throw new OptionsError(`no peer '${name}'; there are ${knownPeers.join(', ')}`);
  }
  const chosen = (id: string) =>
    caseChoice.length > 0 ? caseChoice.some((choice) => isChosen(id, choice)) : !isSkipped(id);
  const peers =
    peerChoice.length > 0
      ? knownPeers.filter((name) => peerChoice.includes(name))
      : knownPeers.filter((name) => !values.quick || !NOT_QUICK_PEERS.includes(name));
  const isMeasuredQuickly = (name: string) => QUICK_MEMORY.some((start) => name.startsWith(start));
  return {
    mode,
    peers,
    memoryPeers: values.quick && peerChoice.length === 0 ? peers.filter(isMeasuredQuickly) : peers,
    cases: ALL_CASES.filter((benchCase) => chosen(benchCase.id)),
    otherCases: OTHER_CASES.filter(chosen),
    ...PACE[mode],
  };
}

function list(text: string | undefined): string[] {
  return (text ?? '').split(',').filter(Boolean);
}
