/**
 * Formats log lines for a terminal: `10:55:04 warn the sentence file=edge.yaml line=7`. The excerpt of a file with its
 * caret follows below, indented.
 */
import { escapedText } from '../text/plain-text.ts';
import { printable, type LogHead, type LogFields, type LogLevel } from './log.ts';

const GRAY = 90;
const LEVEL_COLORS: Readonly<Record<LogLevel, number>> = {
  debug: GRAY,
  info: 32,
  warn: 33,
  error: 31,
};
const LEVEL_WIDTH = 5;

/** Formats a line for a terminal. */
export function textLine(
  { time, level, msg }: LogHead,
  fields: LogFields,
  hasColors: boolean,
): string {
  const colored = (text: string, color: number) =>
    hasColors && text !== '' ? `\u001B[${color}m${text}\u001B[0m` : text;
  const { excerpt, ...others } = fields;
  const details = Object.entries(others)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}=${valueText(value)}`)
    .join(' ');
  const line = [
    // In local time.
    colored(new Date(time).toTimeString().slice(0, 8), GRAY),
    colored(level.padEnd(LEVEL_WIDTH), LEVEL_COLORS[level]),
    escapedText(msg),
    colored(details, GRAY),
  ];
  const excerptLines = typeof excerpt === 'string' ? excerpt.split('\n') : [];
  const lines = [line.filter((part) => part !== '').join('  '), ...excerptLines.map(indented)];
  return lines.map((text) => `${text}\n`).join('');
}

/** Indents a line, so that the line of a file cannot be mistaken for a log line. */
function indented(line: string): string {
  return `  ${escapedText(line)}`;
}

/** Formats a word unchanged, a list with commas, and any other value as JSON. */
function valueText(value: unknown): string {
  if (Array.isArray(value) && value.length > 0) return value.map(valueText).join(',');
  const plain = printable('', value);
  const isWord = typeof plain === 'string' && /^[^\s"',=]+$/u.test(plain);
  return escapedText(isWord ? plain : JSON.stringify(plain, printable));
}
