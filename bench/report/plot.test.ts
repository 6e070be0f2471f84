import { describe, expect, test } from 'bun:test';
import { exampleResults, samplesOf } from './example.ts';
import { plotOf } from './plot.ts';

describe('the plot', () => {
  test('has a bar for each measured peer except the base', () => {
    const svg = plotOf(exampleResults());

    expect(svg.match(/class="bar"/g)).toHaveLength(2);
    expect(svg).toContain('>snicket-epoll<');
    expect(svg).toContain('>0.85<');
  });

  test('marks the goals', () => {
    expect(plotOf(exampleResults())).toContain('>goal 0.92<');
  });

  test('shows "failed" instead of a bar', () => {
    expect(plotOf(exampleResults())).toContain('>failed<');
  });

  test('has bars whose length is proportional to their ratio, up to the right margin', () => {
    const width = (cost: number) => {
      const samples = [
        ...samplesOf('haproxy', 'gateway.plain.connect', [100]),
        ...samplesOf('c', 'gateway.plain.connect', [cost]),
      ];
      const svg = plotOf(exampleResults({ samples }));
      return Number(/class="bar"[^>]* width="([\d.]+)"/.exec(svg)![1]);
    };

    expect(width(100) / width(50)).toBeCloseTo(2, 1);
    expect(width(100_000)).toBe(width(300));
  });

  test('is well-formed: text is escaped and every tag is closed', () => {
    const svg = plotOf(exampleResults({ mode: 'a<b&c' as never }));
    const tags = svg.match(/<[a-z]+[ >]/g)!.length;
    const ends = svg.match(/<\/[a-z]+>|\/>/g)!.length;

    expect(svg).toContain('a&lt;b&amp;c');
    expect(tags).toBe(ends);
  });

  test('is valid without samples', () => {
    expect(plotOf(exampleResults({ samples: [] }))).toContain('</svg>');
  });
});
