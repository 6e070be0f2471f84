/** Plots the ratios as SVG: a bar per peer and case with quartiles, the base at 1, and the goals. */
import { type Comparison, comparisonsOf } from './comparison.ts';
import type { Results } from './results.ts';

const WIDTH = 900;
const LEFT_MARGIN = 250;
const RIGHT_MARGIN = 130;
const BAR = 16;
const GAP = 5;
const GROUP_GAP = 30;
const TITLE = 46;
/** Longer bars are cut off here. The number still shows the ratio. */
const MAX_RATIO = 2.5;

const SNICKET_COLOR = '#2f6f4f';
const PEER_COLOR = '#9aa5b1';
const TEXT_COLOR = '#1f2933';
const GOAL_COLOR = '#ba2525';

/** Returns the plot as an SVG document. */
export function plotOf(results: Results): string {
  const parts: string[] = [];
  let top = 40;
  for (const comparison of comparisonsOf(results)) {
    const drawn = drawComparison(comparison, top);
    parts.push(drawn.svg);
    top = drawn.bottom + GROUP_GAP;
  }
  const text = (x: number, y: number, content: string, attributes = '') =>
    `<text x="${x}" y="${y}" ${attributes}>${escape(content)}</text>`;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${top}" font-family="system-ui, sans-serif" font-size="12" fill="${TEXT_COLOR}">`,
    `<rect width="${WIDTH}" height="${top}" fill="#fff"/>`,
    text(
      10,
      24,
      `Processor time for the same work, HAProxy = 1 (${results.date.slice(0, 10)}, ${results.mode})`,
      'font-size="15" font-weight="600"',
    ),
    ...parts,
    '</svg>\n',
  ].join('\n');
}

function drawComparison(comparison: Comparison, top: number): { svg: string; bottom: number } {
  const lines: string[] = [];
  let y = top + TITLE;
  lines.push(
    `<text x="10" y="${top + 18}" font-size="13" font-weight="600">${escape(comparison.title)}</text>`,
  );
  comparison.columns.forEach((column, index) => {
    lines.push(`<text x="10" y="${y + 12}" fill="#616e7c">${escape(column.title)}</text>`);
    for (const { peer, cells } of comparison.rows) {
      const cell = cells[index];
      if (peer === comparison.base || !cell || cell.outcome.kind === 'absent') continue;
      lines.push(
        `<text x="${LEFT_MARGIN - 8}" y="${y + 12}" text-anchor="end">${escape(peer)}</text>`,
      );
      if (cell.outcome.kind === 'failed') {
        lines.push(`<text x="${LEFT_MARGIN}" y="${y + 12}" fill="${GOAL_COLOR}">failed</text>`);
      } else {
        lines.push(...bar(peer, cell.outcome.ratio, cell.limit, y));
      }
      y += BAR + GAP;
    }
    y += GAP * 2;
  });
  const base = xOf(1);
  lines.push(
    `<line x1="${base}" x2="${base}" y1="${top + TITLE - 6}" y2="${y}" stroke="${TEXT_COLOR}" stroke-dasharray="3 3"/>`,
  );
  lines.push(
    `<text x="${base}" y="${top + TITLE - 9}" text-anchor="middle" font-size="10">${escape(comparison.base)}</text>`,
  );
  return { svg: lines.join('\n'), bottom: y };
}

function bar(
  peer: string,
  ratio: { readonly low: number; readonly median: number; readonly high: number },
  limit: number | undefined,
  y: number,
): string[] {
  const middle = y + BAR / 2;
  const width = (xOf(ratio.median) - LEFT_MARGIN).toFixed(1);
  const color = peer.startsWith('snicket') ? SNICKET_COLOR : PEER_COLOR;
  const figureX = WIDTH - RIGHT_MARGIN + 12;
  const lines = [
    `<rect class="bar" x="${LEFT_MARGIN}" y="${y}" width="${width}" height="${BAR}" fill="${color}"/>`,
    `<line x1="${xOf(ratio.low)}" x2="${xOf(ratio.high)}" y1="${middle}" y2="${middle}" stroke="${TEXT_COLOR}"/>`,
    `<text x="${figureX}" y="${y + 12}">${ratio.median.toFixed(2)}</text>`,
  ];
  if (limit !== undefined) {
    const x = xOf(limit);
    lines.push(
      `<line x1="${x}" x2="${x}" y1="${y - 2}" y2="${y + BAR + 2}" stroke="${GOAL_COLOR}" stroke-width="2"/>`,
      `<text x="${figureX + 36}" y="${y + 12}" fill="${GOAL_COLOR}">goal ${limit}</text>`,
    );
  }
  return lines;
}

function xOf(ratio: number): number {
  const share = Math.min(ratio, MAX_RATIO) / MAX_RATIO;
  return Math.round((LEFT_MARGIN + share * (WIDTH - LEFT_MARGIN - RIGHT_MARGIN)) * 10) / 10;
}

function escape(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
