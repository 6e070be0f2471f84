/** A line on standard error. Not by console.error, which Bun prints in red on a terminal, whatever it says. */
export function say(line: string): void {
  process.stderr.write(`${line}\n`);
}
