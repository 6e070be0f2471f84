/** For tests only: example results. */
import type { Sample } from '../measure/rounds.ts';
import type { Results } from './results.ts';

/** Returns samples of a peer in a case, one per cost, with repetitions from 1. */
export function samplesOf(
  peer: string,
  caseId: string,
  costs: readonly number[],
  errors = 0,
): Sample[] {
  return costs.map((cost, index) => ({
    peer,
    case: caseId,
    repetition: index + 1,
    cost,
    errors,
    perSecond: 1000,
    latencyMedianUs: 500,
    latency99Us: 900,
  }));
}

/** Returns the results of a small run with two cases and three peers. */
export function exampleResults(changes: Partial<Results> = {}): Results {
  return {
    date: '2026-01-02T03:04:05.000Z',
    mode: 'quick',
    machine: {
      processor: 'Example <CPU>',
      cores: 2,
      memoryBytes: 8e9,
      kernel: '6.1',
      pinned: true,
    },
    othersShare: 0.034,
    versions: { haproxy: 'HAProxy 3', 'snicket-epoll': 'snicket 1', c: 'relay.c' },
    failures: {},
    samples: [
      ...samplesOf('snicket-epoll', 'gateway.plain.connect', [80, 90, 85]),
      ...samplesOf('haproxy', 'gateway.plain.connect', [100, 100, 100]),
      ...samplesOf('haproxy', 'gateway.plain.request', [20, 20, 20]),
      ...samplesOf('snicket-epoll', 'gateway.plain.request', [21, 22, 23]),
      ...samplesOf('c', 'gateway.plain.request', [10, 10, 10], 1),
    ],
    idle: [
      {
        peer: 'snicket-epoll',
        kind: 'plain',
        restBytes: 50e6,
        restOwnBytes: 12e6,
        connections: 9000,
        idleBytes: 54e6,
        bytesPerConnection: 512,
      },
    ],
    ...changes,
  };
}
