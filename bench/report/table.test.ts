import { describe, expect, test } from 'bun:test';
import { exampleResults, samplesOf } from './example.ts';
import { reportText } from './table.ts';

describe('the report', () => {
  test('shows ratios with quartiles and the cost in units', () => {
    const text = reportText(exampleResults());

    expect(text).toContain('| snicket-epoll | 0.85 [0.82-0.88] 85.0 | 1.10 [1.08-1.13] 22.0 |');
  });

  test('calls a peer with errors failed, however cheap it was', () => {
    expect(reportText(exampleResults())).toMatch(/\| c +\| - +\| failed, 3 errors +\|/);
  });

  test('sets every goal beside its figure: met, or missed by how much', () => {
    const text = reportText(exampleResults());

    expect(text).toMatch(/gateway\.plain\.connect +\| <= 0\.92 +\| 0\.85 +\| met/);
    expect(text).toMatch(/gateway\.plain\.request +\| <= 0\.95 +\| 1\.10 +\| missed by 16%/);
    expect(text).toMatch(/snicket-epoll at rest +\| <= 42 MB +\| 50 MB +\| missed by 19%/);
    expect(text).toMatch(/an idle connection +\| <= 0\.60 KB +\| 0\.50 KB +\| met/);
  });

  test('reports for how many goals the run has no figure', () => {
    expect(reportText(exampleResults())).toContain('This run measured nothing for 24 more goals.');
  });

  test('a goal whose case failed has failed, and is not left out', () => {
    const samples = [
      ...samplesOf('haproxy', 'gateway.plain.connect', [100]),
      ...samplesOf('snicket-epoll', 'gateway.plain.connect', [10], 4),
    ];

    expect(reportText(exampleResults({ samples }))).toMatch(
      /gateway\.plain\.connect +\| <= 0\.92 +\| - +\| failed: 4 errors/,
    );
  });

  test('shows the private part of the memory at rest', () => {
    expect(reportText(exampleResults())).toMatch(
      /snicket-epoll +\| plain +\| 50\.0 MB +\| 12\.0 MB/,
    );
  });

  test('reports how much of the machine other processes used', () => {
    expect(reportText(exampleResults())).toContain('others used 3% of the machine');
  });

  test('lists what was not available, one line each', () => {
    const text = reportText(exampleResults({ failures: { nginx: 'no apt-get\n    here' } }));

    expect(text).toContain('- nginx: no apt-get here\n');
  });

  test('keeps peers in the order of their versions, not of the measurements', () => {
    const text = reportText(exampleResults());

    expect(text.indexOf('| haproxy ')).toBeLessThan(text.indexOf('| snicket-epoll '));
  });

  test('has a part about routes when they were measured', () => {
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
