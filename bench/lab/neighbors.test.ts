import { describe, expect, test } from 'bun:test';
import { availableParallelism } from 'node:os';
import { othersShare, readUse } from './neighbors.ts';

describe('the load of other processes', () => {
  test('is read from the first line of /proc/stat and from fields 14 to 17 of a process', () => {
    const machine = 'cpu  100 10 200 5000 70 30 40 50 0 0\ncpu0 1 1 1 1 1 1 1 1 0 0\n';
    const ownStat = '7 (a name) with) S 1 7 7 0 -1 4194304 1 2 3 4 110 120 130 140 20 0 1';

    // Idle time and I/O wait do not count as use of the CPU.
    expect(readUse(machine, ownStat)).toEqual({ machine: 4.3, own: 5 });
  });

  test('excludes the CPU time of the bench', () => {
    const cores = availableParallelism();
    const before = { machine: 100, own: 10, at: 0 };
    const after = { machine: 100 + cores * 5, own: 10 + cores * 3, at: 10 };

    expect(othersShare(before, after)).toBeCloseTo(0.2);
  });

  test('is never negative despite rounding', () => {
    const before = { machine: 0, own: 0, at: 0 };

    expect(othersShare(before, { machine: 1, own: 1.01, at: 10 })).toBe(0);
  });
});
