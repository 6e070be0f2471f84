import { Command, Option } from 'commander';
import { LOG_LEVELS, type LogLevel } from '../telemetry/log.ts';
import { folderName } from './flags/flag-values.ts';
import { gatewayOptionsOf, withGatewayFlags, type GatewayFlags } from './flags/gateway-flags.ts';
import {
  operatorOptionsOf,
  withOperatorFlags,
  type OperatorFlags,
} from './flags/operator-flags.ts';
import type { CommandIo } from './io/command-io.ts';

const EXAMPLES = `
Examples:
  snicket run /etc/snicket  # state in ~/.local/state/snicket
  snicket run /etc/snicket --state /var/lib/snicket \\
    --listen 203.0.113.10:443
  snicket run ./tenants --state ./.snicket \\
    --listen 127.0.0.1:6443 --http 127.0.0.1:9440

The folder holds *.yaml, *.yml and *.json, at any depth, with:
  Edge      driver snicket, and its addresses
  Exposure  of a control plane at fixed endpoints, with caSecretRef and
            kubeconfigSecretRef
  Secret    data, stringData, or files: {tls.crt: pki/ca.crt}, from the file's
            own folder on
What a file says is in force a moment after it is written. A file that is wrong
leaves what it said last in force, and the log names the line. What is gone from
the folder is cleaned up in its tenant.
See also: snicket status --state DIR.

Signals:
  TERM, INT  not ready from now on, accept for --grace, close over --drain, end;
             once more: end at once
  HUP        open the access log anew

Exit codes:
  0  told to end
  1  it could not go on; the log says why
  2  the command line, the folder or the state cannot be used`;

interface Flags extends GatewayFlags, OperatorFlags {
  readonly state?: string;
  readonly logLevel: LogLevel;
}

/** Interval between two reads of Secrets. Reading files is cheap, and a user who replaces a file waits for it. */
const RESYNC = '30s';

/** `snicket run`: operator and gateway in one process, with a folder in place of a management cluster. */
export function runCommand(io: CommandIo): Command {
  const command = new Command('run')
    .description('operator and gateway in one process, from a folder of YAML in place of a cluster')
    .argument('<folder>', 'the Edges, Exposures and Secrets; watched', folderName)
    .option(
      '--state <folder>',
      'where to keep keys and statuses, for nobody else to read (default: $STATE_DIRECTORY, $XDG_STATE_HOME/snicket or ~/.local/state/snicket)',
      folderName,
    );
  return withOperatorFlags(withGatewayFlags(command), RESYNC)
    .addOption(
      new Option('--log-level <level>', 'what to log on standard error')
        .choices(LOG_LEVELS)
        .default('info'),
    )
    .addHelpText('after', EXAMPLES)
    .action(async (folder: string, flags: Flags, self: Command) => run(io, folder, flags, self));
}

async function run(io: CommandIo, folder: string, flags: Flags, command: Command): Promise<void> {
  // Imported lazily, so that other commands do not load it.
  const [{ runStandalone }, { programLog }, state, { FolderUnreadable }] = await Promise.all([
    import('../standalone/run-standalone.ts'),
    import('./output/program-log.ts'),
    import('../standalone/state/state-folder.ts'),
    import('../standalone/folder/fault.ts'),
  ]);
  const log = await programLog(io, flags.logLevel);
  const { http, ...gateway } = gatewayOptionsOf(io, flags);
  try {
    const code = await runStandalone(
      {
        folder: io.path(folder),
        state: io.path(flags.state ?? state.defaultStateFolder(io.env)),
        gateway,
        http,
        operator: operatorOptionsOf(flags),
      },
      log,
    );
    // Exits explicitly: a blocked write or an unresponsive file system would keep the process alive forever.
    io.exit(code);
  } catch (error) {
    if (!(error instanceof state.StateRefused || error instanceof FolderUnreadable)) throw error;
    command.error(`error: ${error.message}`);
  }
}
