import { expect, test } from 'bun:test';
import { reportText } from './report.ts';
import type { OperatorResults } from './results.ts';

const use = { cpuSeconds: 20, residentBytes: 130e6, peakBytes: 150e6 };
const results: OperatorResults = {
  date: '2026-11-18T05:00:00.000Z',
  machine: { cores: 2, processor: 'X', kernel: '6.1', memoryBytes: 4e9 },
  othersShare: 0.5,
  management: 'kube-apiserver v1.36.3',
  tenants: 1000,
  empty: { ...use, residentBytes: 70e6 },
  cold: {
    seconds: 50,
    use,
    longestBlock: { seconds: 0.08, busySeconds: 0.03 },
    requests: { management: { 'get secrets': 2000 }, tenants: { 'list daemonsets': 1000 } },
  },
  rest: {
    seconds: 60,
    cpuSeconds: 0.5,
    use,
    longestBlock: { seconds: 0.02, busySeconds: 0.01 },
    requests: { management: { 'patch exposures/status': 3 }, tenants: { 'update leases': 200 } },
  },
  fresh: { routed: [90, 60, 70], served: [100], workersReady: [1500] },
  drift: { slice: [10], daemonSet: [20, 30], ingress: [40] },
  leaseTransitions: 0,
};

/** Returns the cells of the row that begins with this title. */
function row(title: string): readonly string[] {
  const line = reportText(results)
    .split('\n')
    .find((text) => text.startsWith(`| ${title} `));
  return (line ?? '').split('|').map((cell) => cell.trim());
}

test('a report has each figure with its goal, per tenant', () => {
  expect(row('cold start, CPU time per tenant')).toContain('20.0 ms');
  expect(row('memory at rest')).toEqual(['', 'memory at rest', '130 MB', '130 MB', '']);
  expect(row('memory at rest per tenant')).toContain('60 KB');
  expect(row('CPU time at rest per tenant and minute')).toContain('0.50 ms');
  expect(row('longest event-loop block: cold start, rest')).toContain('80, 20 ms');
  expect(row('the same, CPU time of the event loop')).toContain('30, 10 ms');
  expect(row('new Exposure routed: median, slowest')).toContain('70, 90 ms');
});

test('counts writes at rest, except those of Leases', () => {
  expect(row('writes at rest, without Leases')).toContain('3');
});

test('a report lists the requests of a tenant', () => {
  expect(row('management')).toEqual(['', 'management', 'get secrets', '2.00', '0.00', '']);
});
