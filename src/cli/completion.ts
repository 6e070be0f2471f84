import { Argument, Command } from 'commander';
import { SCRIPTS, SHELLS, type Shell } from './completion/scripts.ts';
import type { CommandIo } from './io/command-io.ts';

const EXAMPLES = `
Examples:
  source <(snicket completion bash)  # in ~/.bashrc
  source <(snicket completion zsh)   # in ~/.zshrc, after compinit
  snicket completion fish | source   # in ~/.config/fish/config.fish

For "kubectl snicket", kubectl runs a program named kubectl_complete-snicket.
Create one in a folder of your PATH, next to kubectl-snicket:
  printf '#!/bin/sh\\nexec kubectl-snicket __complete "$@"\\n' \\
    > ~/bin/kubectl_complete-snicket
  chmod +x ~/bin/kubectl_complete-snicket

Commands, options and their values come from the program itself. Names of
Exposures, Edges and namespaces come from the cluster, with a timeout of 2s.

Exit codes:
  0  success
  2  invalid command line`;

/** `snicket completion`: prints the script that lets a shell complete command lines. */
export function completionCommand(io: CommandIo): Command {
  return new Command('completion')
    .description('Print a shell completion script')
    .addArgument(new Argument('<shell>', 'shell to complete in').choices(SHELLS))
    .addHelpText('after', EXAMPLES)
    .action((shell: Shell) => {
      io.stdout.write(SCRIPTS[shell]);
    });
}
