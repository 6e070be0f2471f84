/** Formats the invalid line of a file, with a caret below the column of the fault. */

/** Maximum length of the shown part of a line. */
const WIDTH = 100;
/** Characters before the caret, if the start of the line is cut off. */
const CONTEXT_WIDTH = 60;

/** Returns two lines of text, or undefined if there is no such line or it must not be shown. */
export function excerptAt(text: string, line: number, column: number): string | undefined {
  const lines = text.split('\n');
  const found = lines[line - 1]?.replace(/\r$/, '');
  if (found === undefined || !isShown(lines, line - 1)) return undefined;
  const start = Math.max(0, Math.min(column - 1 - CONTEXT_WIDTH, found.length - WIDTH));
  const before = start > 0 ? '…' : '';
  const rest = found.slice(start);
  const shown = rest.length > WIDTH ? `${rest.slice(0, WIDTH)}…` : rest;
  const margin = `${line} | `;
  const caretAt = margin.length + before.length + (column - 1 - start);
  return `${margin}${before}${plain(shown)}\n${' '.repeat(caretAt)}^`;
}

/**
 * Replaces control characters and format characters by spaces, so that each character takes one column and a terminal
 * does not interpret any.
 */
function plain(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}]/gu, ' ');
}

/**
 * Whether the line belongs to a YAML document with only Edges and Exposures. Other documents may contain keys, which
 * must not be logged.
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
  const mayHaveSecrets = kinds.some((kind) => /^(?:secret|config)$/i.test(kind ?? ''));
  return isOurs && !mayHaveSecrets && !SECRET_FIELD.test(document);
}

/** Fields of Secrets and kubeconfigs, which may lack a kind, or the `---` before them. */
const SECRET_FIELD =
  /(?:^|[\s{,"'])(?:data|stringData|users|token|password|client-key-data)["']?\s*:/;
