import { Argument, Command, InvalidArgumentError, Option } from 'commander';
import { ipVersion } from '../wire/ip-address.ts';
import { fileName } from './flags/flag-values.ts';
import {
  folderOption,
  parseExposureName,
  rejectGiven,
  stateOption,
  withClusterFlags,
  type NamedExposure,
} from './flags/management-flags.ts';
import type { CommandIo } from './io/command-io.ts';
import { OUTPUTS } from './output/output.ts';
import type { SourceFlags } from './sources/read-management.ts';

const EXAMPLES = `
Examples:
  snicket kubeconfig tenants/blue -o blue.kubeconfig
  kubectl --kubeconfig blue.kubeconfig get nodes

  snicket kubeconfig blue --by-address            # without DNS
  snicket kubeconfig blue --address 203.0.113.10  # with this address
  snicket kubeconfig -f tenants.d blue            # from a folder
  snicket kubeconfig --state .snicket blue        # from a state folder
  KUBECONFIG=~/.kube/config:blue.kubeconfig kubectl config view --flatten --raw

The credentials are those of the administrator's kubeconfig that the provider
stores in a Secret, or that the Exposure references. Cluster, user and context
are named NAMESPACE/NAME, so that one file can have several tenants.

Exit codes:
  0  success
  1  the tenant has no usable kubeconfig
  2  invalid command line or file, or the management cluster cannot be read`;

/** The flags as Commander reads them. */
export interface KubeconfigFlags extends SourceFlags {
  readonly address?: string;
  readonly byAddress: boolean;
  readonly output?: string;
  readonly force: boolean;
}

/** `snicket kubeconfig`: prints a kubeconfig of a tenant that uses the edge. */
export function kubeconfigCommand(io: CommandIo): Command {
  return withClusterFlags(new Command('kubeconfig'))
    .description('Print a kubeconfig of a tenant that connects through the edge')
    .addArgument(new Argument('<exposure>', 'NAMESPACE/NAME or NAME').argParser(parseExposureName))
    .addOption(folderOption())
    .addOption(stateOption())
    .addOption(
      new Option('--by-address', 'use an address of the Edge as server, instead of a DNS name')
        .default(false)
        .conflicts('address'),
    )
    .option('--address <ip>', 'use this address as server, instead of a DNS name', parseAddress)
    .option(
      '-o, --output <file>',
      'file to write, with mode 0600 (default: standard output)',
      parseFile,
    )
    .option('--force', 'with -o: overwrite an existing file', false)
    .addHelpText('after', EXAMPLES)
    .action(async (exposure: NamedExposure, flags: KubeconfigFlags, command: Command) => {
      if (flags.output === undefined) {
        rejectGiven(['force'], 'requires -o', command, '-o FILE');
      }
      const { runKubeconfig } = await import('./kubeconfig/run-kubeconfig.ts');
      await runKubeconfig(io, exposure, flags, command);
    });
}

function parseAddress(text: string): string {
  if (ipVersion(text) === 0) {
    throw new InvalidArgumentError('must be an IP address such as 203.0.113.10 or 2001:db8::10');
  }
  return text;
}

/** Rejects formats: other tools have them in -o, and a file named yaml would be a surprise. */
function parseFile(text: string): string {
  if (text === '-')
    throw new InvalidArgumentError('must be a file; omit -o to print the kubeconfig');
  if (OUTPUTS.some((output) => output === text)) {
    throw new InvalidArgumentError(
      `must be a file, not a format: a kubeconfig is YAML; omit -o, or pass ./${text} for a file of that name`,
    );
  }
  return fileName(text);
}
