import { Command } from 'commander';
import { CommandError } from './output/messages.ts';
import { outputOption, type Output } from './output/output.ts';
import type { Explanation } from './explain/explanations.ts';
import type { CommandIo } from './io/command-io.ts';

const EXAMPLES = `
Examples:
  snicket explain DnsWrongAddress  # meaning and what to do
  snicket explain               # all codes
  snicket explain HostConflict -o json

The output of doctor, status, render, diff and dns has codes, as have the
conditions, events and logs of Snicket. This command needs no cluster.

Exit codes:
  0  success
  2  invalid command line, or unknown code`;

interface Flags {
  readonly output: Output;
}

/** Indentation of sentences. */
const INDENT = 2;

/** `snicket explain`: shows the meaning of a code and what to do, from the catalogs of this version. */
export function explainCommand(io: CommandIo): Command {
  return new Command('explain')
    .description('Explain a code: its meaning and what to do')
    .argument('[code]', 'code such as DnsWrongAddress (default: list all codes)')
    .addOption(outputOption())
    .addHelpText('after', EXAMPLES)
    .action(async (code: string | undefined, flags: Flags) => {
      const { explanations } = await import('./explain/explanations.ts');
      const all = explanations();
      await (code === undefined ? list(io, all, flags) : explain(io, code, all, flags));
    });
}

async function list(io: CommandIo, all: readonly Explanation[], { output }: Flags): Promise<void> {
  const { valueText } = await import('./output/output.ts');
  if (output !== 'table') {
    io.stdout.write(valueText({ codes: all }, output));
    return;
  }
  const groups = Map.groupBy(all, ({ group }) => group);
  const texts = [...groups].map(([group, entries]) => {
    const lines = entries.map(({ code }) => `${' '.repeat(INDENT)}${code}\n`);
    return `${group}:\n${lines.join('')}`;
  });
  io.stdout.write(texts.join('\n'));
}

async function explain(
  io: CommandIo,
  code: string,
  all: readonly Explanation[],
  { output }: Flags,
): Promise<void> {
  const found = all.filter((one) => one.code.toLowerCase() === code.toLowerCase());
  if (found.length === 0) {
    const { similarCodes } = await import('./explain/similar-codes.ts');
    const similar = similarCodes(
      code,
      all.map((one) => one.code),
    );
    const hint =
      similar.length === 0
        ? 'list all codes: snicket explain'
        : `did you mean ${similar.join(', ')}?`;
    throw new CommandError(`unknown code: ${code}`, hint);
  }
  const { currentScreen, valueText, wrappedText } = await import('./output/output.ts');
  if (output !== 'table') {
    const [only] = found;
    io.stdout.write(valueText(found.length === 1 && only !== undefined ? only : found, output));
    return;
  }
  const screen = currentScreen(io);
  const indented = (text: string) => `${' '.repeat(INDENT)}${wrappedText(text, INDENT, screen)}\n`;
  const texts = found.map(({ code: name, reportedBy, severity, meaning, action }) =>
    [
      `CODE:      ${name}\n`,
      `REPORTED:  ${reportedBy}\n`,
      `SEVERITY:  ${severity === 'Finding' ? 'Error or Warning' : severity}\n`,
      `\nMEANING:\n${indented(meaning)}`,
      `\nWHAT TO DO:\n${indented(action ?? 'Nothing.')}`,
    ].join(''),
  );
  io.stdout.write(texts.join('\n'));
}
