import { Command } from 'commander';
import type { LogLevel } from '../telemetry/log.ts';
import { folderName, logLevelOption } from './flags/flag-values.ts';
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

The folder contains *.yaml, *.yml and *.json files, at any depth, with:
  Edge      driver snicket, and its addresses
  Exposure  of a control plane at fixed endpoints, with caSecretRef and
            kubeconfigSecretRef
  Secret    data, stringData, or files: {tls.crt: pki/ca.crt}, relative to the
            folder of the file
Changes apply immediately. If a file is invalid, its last valid content stays in
effect and the log names the line. Exposures that are removed from the folder
are cleaned up in their tenants.
See also: snicket status --state DIR.

Signals:
  TERM, INT  report not ready, accept connections for --grace, close them over
             --drain, exit; a second signal exits immediately
  HUP        reopen the access log

Exit codes:
  0  stopped by a signal
  1  fatal error; see the log
  2  invalid command line, folder or state`;

interface Flags extends GatewayFlags, OperatorFlags {
  readonly state?: string;
  readonly logLevel: LogLevel;
}

/** Interval between two reads of Secrets. Reading files is cheap, and a user who replaces a file waits for it. */
const RESYNC = '30s';

/** `snicket run`: operator and gateway in one process, with a folder in place of a management cluster. */
export function runCommand(io: CommandIo): Command {
  const command = new Command('run')
    .description('Run operator and gateway in one process, with a folder instead of a cluster')
    .argument('<folder>', 'folder with Edges, Exposures and Secrets; watched', folderName)
    .option(
      '--state <folder>',
      'folder for keys and status, private to this user (default: $STATE_DIRECTORY, $XDG_STATE_HOME/snicket or ~/.local/state/snicket)',
      folderName,
    );
  return withOperatorFlags(withGatewayFlags(command), RESYNC)
    .addOption(logLevelOption())
    .addHelpText('after', EXAMPLES)
    .action(async (folder: string, flags: Flags) => run(io, folder, flags));
}

async function run(io: CommandIo, folder: string, flags: Flags): Promise<void> {
  // Imported lazily, so that other commands do not load it.
  const [{ runStandalone }, { programLog }, { defaultStateFolder }] = await Promise.all([
    import('../standalone/run-standalone.ts'),
    import('./output/program-log.ts'),
    import('../standalone/state/state-folder.ts'),
  ]);
  const log = await programLog(io, flags.logLevel);
  const { http, ...gateway } = gatewayOptionsOf(io, flags);
  const code = await runStandalone(
    {
      folder: io.path(folder),
      state: io.path(flags.state ?? defaultStateFolder(io.env)),
      gateway,
      http,
      operator: operatorOptionsOf(flags),
    },
    log,
  );
  // Exits explicitly: a blocked write or an unresponsive file system would keep the process alive forever.
  io.exit(code);
}
