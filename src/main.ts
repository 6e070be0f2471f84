import { Command, CommanderError } from 'commander';
import { versionCommand } from './cli/version.ts';

/** Exit code for a command line that cannot be understood, as in most Unix tools. */
const USAGE_ERROR = 2;

const program = new Command('snicket')
  .description('One address for every hosted Kubernetes control plane.')
  .exitOverride();

for (const command of [versionCommand()]) {
  // addCommand() alone would let a subcommand exit by itself, with Commander's code 1.
  program.addCommand(command.copyInheritedSettings(program));
}

const words = process.argv.slice(2);
try {
  await program.parseAsync(words.length === 0 ? ['help'] : words, { from: 'user' });
} catch (error) {
  // Commander has already printed the help, or the sentence that says what is wrong.
  if (!(error instanceof CommanderError)) throw error;
  process.exitCode = error.exitCode === 0 ? 0 : USAGE_ERROR;
}
