/**
 * Log lines for a person at a terminal: `10:55:04 warn   the sentence  file=edge.yaml line=7`, and below it the fields that
 * have lines of their own, such as the excerpt of a file with its caret.
 */
import { escapedText } from './plain-text.ts';
import { printable, type LogHead, type LogFields, type LogLevel } from './log.ts';

const GREY = 90;
const LEVEL_COLOURS: Readonly<Record<LogLevel, number>> = {
  debug: GREY,
  info: 32,
  warn: 33,
  error: 31,
};
const LEVEL_WIDTH = 5;

/** How a line is written for a person. */
export function textLine(
  { time, level, msg }: LogHead,
  fields: LogFields,
  hasColours: boolean,
): string {
  const painted = (text: string, colour: number) =>
    hasColours && text !== '' ? `\u001B[${colour}m${text}\u001B[0m` : text;
  const shown = Object.entries(fields).filter(([, value]) => value !== undefined);
  const beside = shown.filter(([, value]) => !isBlock(value));
  const below = shown.flatMap(([, value]) => (isBlock(value) ? [value] : []));
  const details = beside.map(([name, value]) => `${name}=${valueText(value)}`).join(' ');
  const line = [
    // Of the clock on that person's wall.
    painted(new Date(time).toTimeString().slice(0, 8), GREY),
    painted(level.padEnd(LEVEL_WIDTH), LEVEL_COLOURS[level]),
    escapedText(msg),
    painted(details, GREY),
  ];
  const blocks = below.map((text) => `${text.split('\n').map(escapedText).join('\n')}\n`);
  return `${line.filter((part) => part !== '').join('  ')}\n${blocks.join('')}`;
}

function isBlock(value: unknown): value is string {
  return typeof value === 'string' && value.includes('\n');
}

/** A word as it is; several, one after the other; anything else as JSON has it. */
function valueText(value: unknown): string {
  if (Array.isArray(value) && value.length > 0) return value.map(valueText).join(',');
  const plain = printable('', value);
  const isWord = typeof plain === 'string' && /^[^\s"',=]+$/u.test(plain);
  return escapedText(isWord ? plain : JSON.stringify(plain, printable));
}
