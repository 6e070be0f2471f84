/** Draws the output of a terminal as an SVG picture. */

const FONT_PX = 14;
/** Width of a character relative to the font size. Nearly all monospaced fonts have this value. */
const ADVANCE = 0.602;
const LINE_PX = 20;
const MARGIN_PX = 18;
/** Height of the bar with the window's three buttons. */
const BAR_PX = 34;

const BACKGROUND = '#0d1117';
const FOREGROUND = '#e6edf3';
const BUTTONS = ['#ff5f57', '#febc2e', '#28c840'];
/** Colors by the SGR parameter that selects them (ECMA-48, 8.3.117). */
const COLORS: Readonly<Record<string, string>> = {
  31: '#ff7b72',
  32: '#7ee787',
  33: '#e3b341',
  34: '#79c0ff',
  35: '#d2a8ff',
  36: '#76e3ea',
  90: '#8b949e',
};

const CONTROL_SEQUENCE_INTRODUCER = '\u001B[';

/** Style of characters. */
interface Style {
  readonly color?: string;
  readonly isBold?: boolean;
  readonly isDim?: boolean;
}

/** Characters of the same style. */
interface Run extends Style {
  readonly text: string;
}

/** Returns an SVG picture of lines with escape sequences for colors. `title` is for screen readers. */
export function terminalPicture(lines: readonly string[], title: string): string {
  const rows = lines.map(runsOf);
  const columns = Math.max(
    ...rows.map((runs) => runs.reduce((sum, { text }) => sum + text.length, 0)),
  );
  const width = Math.ceil(columns * FONT_PX * ADVANCE) + 2 * MARGIN_PX;
  const height = BAR_PX + rows.length * LINE_PX + MARGIN_PX;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img">`,
    `<title>${escaped(title)}</title>`,
    `<rect width="100%" height="100%" rx="8" fill="${BACKGROUND}"/>`,
    ...BUTTONS.map(
      (color, at) => `<circle cx="${MARGIN_PX + 5 + at * 20}" cy="18" r="6" fill="${color}"/>`,
    ),
    `<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, monospace" font-size="${FONT_PX}" fill="${FOREGROUND}" xml:space="preserve">`,
    ...rows.flatMap((runs, at) => textOf(runs, BAR_PX + (at + 0.75) * LINE_PX)),
    '</g>',
    '</svg>',
    '',
  ].join('\n');
}

/** Places each run by its column, so that columns stay aligned with any font of the reader. */
function textOf(runs: readonly Run[], y: number): readonly string[] {
  let column = 0;
  const spans: string[] = [];
  for (const { text, color, isBold, isDim } of runs) {
    const start = column;
    column += text.length;
    if (text.trim() === '') continue;
    const indent = text.length - text.trimStart().length;
    const x = MARGIN_PX + (start + indent) * FONT_PX * ADVANCE;
    const length = text.trim().length * FONT_PX * ADVANCE;
    const style = [
      color === undefined ? '' : ` fill="${color}"`,
      isBold === true ? ' font-weight="bold"' : '',
      isDim === true ? ' opacity="0.6"' : '',
    ].join('');
    spans.push(
      `<text x="${x.toFixed(1)}" y="${y}" textLength="${length.toFixed(1)}"${style}>${escaped(text.trim())}</text>`,
    );
  }
  return spans;
}

function runsOf(line: string): readonly Run[] {
  let style: Style = {};
  const [first = '', ...rest] = line.split(CONTROL_SEQUENCE_INTRODUCER);
  return [
    { text: first },
    ...rest.map((part): Run => {
      const { parameters, text } = /^(?<parameters>[0-9;]*)m(?<text>.*)$/.exec(part)?.groups ?? {};
      if (parameters === undefined) throw new Error(`not a color: ${JSON.stringify(part)}`);
      for (const parameter of parameters.split(';')) style = styleAfter(style, parameter);
      return { ...style, text: text ?? '' };
    }),
  ];
}

function styleAfter(style: Style, parameter: string): Style {
  if (parameter === '' || parameter === '0') return {};
  if (parameter === '1') return { ...style, isBold: true };
  if (parameter === '2') return { ...style, isDim: true };
  if (parameter === '22') return { ...style, isBold: false, isDim: false };
  const { color: _, ...plain } = style;
  const color = COLORS[parameter];
  return color === undefined ? plain : { ...plain, color };
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}
