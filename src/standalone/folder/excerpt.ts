/**
 * The line that is wrong, with a caret below the character where it begins.
 */

/** The most of a line that is shown: two terminals of 80 columns side by side have less. */
const WIDTH = 100;
/** So much of it is before the caret where a line is cut. */
const BEFORE = 60;

/** Two lines of text; nothing where there is no such line, or where it must not be shown. */
export function excerptAt(text: string, line: number, column: number): string | undefined {
  const lines = text.split('\n');
  const found = lines[line - 1]?.replace(/\r$/, '');
  if (found === undefined || !isShown(lines, line - 1)) return undefined;
  const start = Math.max(0, Math.min(column - 1 - BEFORE, found.length - WIDTH));
  const before = start > 0 ? '…' : '';
  const rest = found.slice(start);
  const shown = rest.length > WIDTH ? `${rest.slice(0, WIDTH)}…` : rest;
  const margin = `${line} | `;
  const caretAt = margin.length + before.length + (column - 1 - start);
  return `${margin}${before}${plain(shown)}\n${' '.repeat(caretAt)}^`;
}

/** One column for each character, and nothing that a terminal would act on. */
function plain(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}]/gu, ' ');
}

/**
 * Whether a line is of a document with Edges and Exposures alone. What else is in the folder may hold keys, and no log is
 * a place for those.
 */
function isShown(lines: readonly string[], index: number): boolean {
  const isBorder = (line: string | undefined) => line !== undefined && /^---(\s|$)/.test(line);
  let first = index;
  while (first > 0 && !isBorder(lines[first])) first--;
  let end = index + 1;
  while (end < lines.length && !isBorder(lines[end])) end++;
  const document = lines.slice(first, end).join('\n');
  const kinds = [...document.matchAll(/["']?kind["']?\s*:\s*["']?(\w+)/g)].map(([, kind]) => kind);
  const isOurs = kinds.some((kind) => kind === 'Edge' || kind === 'Exposure');
  const isOthers = kinds.some((kind) => /^(?:secret|config)$/i.test(kind ?? ''));
  return isOurs && !isOthers && !SECRET_FIELD.test(document);
}

/** Of Secrets and kubeconfigs, which may stand there without a kind, or without `---` before them. */
const SECRET_FIELD =
  /(?:^|[\s{,"'])(?:data|stringData|users|token|password|client-key-data)["']?\s*:/;
