import { escapedText } from '../text/plain-text.ts';

/**
 * One line on standard error, whatever others wrote that is quoted in it. Not by console.error, which Bun prints in red on
 * a terminal, whatever it says.
 */
export function say(line: string): void {
  process.stderr.write(`${escapedText(line)}\n`);
}
