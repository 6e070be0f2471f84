import { Argument, Command } from 'commander';
import { SCRIPTS, SHELLS, type Shell } from './completion/scripts.ts';
import type { CommandIo } from './io/command-io.ts';

const EXAMPLES = `
Examples:
  source <(snicket completion bash)  # in ~/.bashrc
  source <(snicket completion zsh)   # in ~/.zshrc, after compinit
  snicket completion fish | source   # in ~/.config/fish/config.fish

For "kubectl snicket", kubectl asks a program called kubectl_complete-snicket.
Put one into a folder of your PATH, beside kubectl-snicket:
  printf '#!/bin/sh\\nexec kubectl-snicket __complete "$@"\\n' \\
    > ~/bin/kubectl_complete-snicket
  chmod +x ~/bin/kubectl_complete-snicket

Commands, options and their values come from the program itself, names of
Exposures, Edges and namespaces from the cluster; it is given two seconds.

Exit codes:
  0  printed
  2  the command line cannot be understood`;

/** `snicket completion`: prints the script that lets a shell complete command lines. */
export function completionCommand(io: CommandIo): Command {
  return new Command('completion')
    .description('print a script by which a shell completes command lines of snicket')
    .addArgument(new Argument('<shell>', 'which one').choices(SHELLS))
    .addHelpText('after', EXAMPLES)
    .action((shell: Shell) => {
      io.stdout.write(SCRIPTS[shell]);
    });
}
