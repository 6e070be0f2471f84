import { describe, expect, test } from 'bun:test';
import { exampleResults, samplesOf } from './example.ts';
import { reportText } from './table.ts';

describe('the report', () => {
  test('shows ratios with quartiles and the cost in units', () => {
    const text = reportText(exampleResults());

    expect(text).toContain('| snicket-epoll | 0.85 [0.82-0.88] 85.0 | 1.10 [1.08-1.13] 22.0 |');
  });

  test('shows a peer with errors as failed', () => {
    expect(reportText(exampleResults())).toMatch(/\| c +\| - +\| failed, 3 errors +\|/);
  });

  test('shows for every goal whether it is met, or by how much it is missed', () => {
    const text = reportText(exampleResults());

    expect(text).toMatch(/gateway\.plain\.connect +\| <= 0\.92 +\| 0\.85 +\| met/);
    expect(text).toMatch(/gateway\.plain\.request +\| <= 0\.95 +\| 1\.10 +\| missed by 16%/);
    expect(text).toMatch(/snicket-epoll at rest +\| <= 42 MB +\| 50 MB +\| missed by 19%/);
    expect(text).toMatch(/an idle connection +\| <= 0\.60 KB +\| 0\.50 KB +\| met/);
  });

  test('reports the number of goals without a figure', () => {
    expect(reportText(exampleResults())).toContain('This run measured nothing for 24 more goals.');
  });

  test('shows a goal whose case failed as failed', () => {
    const samples = [
      ...samplesOf('haproxy', 'gateway.plain.connect', [100]),
      ...samplesOf('snicket-epoll', 'gateway.plain.connect', [10], 4),
    ];

    expect(reportText(exampleResults({ samples }))).toMatch(
      /gateway\.plain\.connect +\| <= 0\.92 +\| - +\| failed: 4 errors/,
    );
  });

  test('shows the anonymous memory at rest', () => {
    expect(reportText(exampleResults())).toMatch(
      /snicket-epoll +\| plain +\| 50\.0 MB +\| 12\.0 MB/,
    );
  });

  test('reports the share of the machine that other processes used', () => {
    expect(reportText(exampleResults())).toContain('others used 3% of the machine');
  });

  test('lists each failure on one line', () => {
    const text = reportText(exampleResults({ failures: { nginx: 'no apt-get\n    here' } }));

    expect(text).toContain('- nginx: no apt-get here\n');
  });

  test('lists peers in the order in which they were started', () => {
    const text = reportText(exampleResults());

    expect(text.indexOf('| haproxy ')).toBeLessThan(text.indexOf('| snicket-epoll '));
  });

  test('has a section about routes if they were measured', () => {
    const routes = {
      routes: 10_000,
      startMs: { few: 150, many: 400 },
      changeMs: [40, 30, 35],
      lookupRatios: [1, 1.02, 0.99],
    };

    const text = reportText(exampleResults({ routes }));

    expect(text).toContain('## 10,000 routes');
    expect(text).toMatch(/one change live +\| <= 50 ms +\| 35 ms +\| met/);
    expect(reportText(exampleResults())).not.toContain('## 10,000 routes');
  });
});
