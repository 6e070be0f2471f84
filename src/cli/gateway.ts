import { Command } from 'commander';
import type { LogLevel } from '../telemetry/log.ts';
import type { OpenRoutesFeed } from '../gateway/routes/routes-feed.ts';
import { fileName, logLevelOption, objectName } from './flags/flag-values.ts';
import { withAccessFlags } from './flags/management-flags.ts';
import type { AccessFlags } from './io/open-access.ts';
import { gatewayOptionsOf, withGatewayFlags, type GatewayFlags } from './flags/gateway-flags.ts';
import { adviceIn, CommandError, printAdvice } from './output/messages.ts';
import type { CommandIo } from './io/command-io.ts';

const EXAMPLES = `
Examples:
  snicket gateway --routes routes.yaml
  snicket gateway --routes routes.yaml --workers 2 \\
    --listen 10.0.0.1:443 --listen '[fd00::1]:443'
  snicket gateway --routes routes.yaml --access-log - \\
    --proxy-protocol 10.0.0.0/8,fd00::/8
  snicket gateway --kubernetes --edge shared \\
    --state /state/routes.json --key-file /keys/master.key
  snicket gateway --routes routes.yaml --validate

A routes file:
  routes:
    - tenant: a
      host: a.k8s.example.com
      kind: api
      endpoints: ["10.0.0.5:6443", "[fd00::5]:6443"]
      limits: {connections: 5000, connectionsPerSecond: 100}

Signals:
  TERM, INT  report not ready, accept connections for --grace, close them over
             --drain, exit; a second signal exits immediately
  HUP        reopen the access log

Exit codes:
  0  stopped by a signal; with --validate: the files are valid
  1  fatal error; see the log
  2  invalid command line; with --validate: a file is invalid`;

/** The flags as Commander reads them. */
interface Flags extends GatewayFlags, AccessFlags {
  readonly routes?: string;
  readonly kubernetes: boolean;
  readonly edge?: string;
  readonly state?: string;
  readonly keyFile?: string;
  readonly validate: boolean;
  readonly logLevel: LogLevel;
}

/** `snicket gateway`: serves the shared address of all tenants. */
export function gatewayCommand(io: CommandIo): Command {
  const command = new Command('gateway')
    .description('Run the gateway, which routes TLS connections to tenants by server name')
    .option('--routes <file>', 'routes file, YAML or JSON; reloaded when it changes', fileName)
    .optionsGroup('Options for routes from a cluster:')
    .option('--kubernetes', 'routes from the TenantRoutes of a management cluster', false)
    .option('--edge <name>', 'only the TenantRoutes of this Edge', objectName)
    .option('--state <file>', 'cache of the last routes, used at the next start', fileName);
  withAccessFlags(
    command,
    'kubeconfig of the cluster (default: as kubectl, or in-cluster)',
  ).optionsGroup('Options:');
  return withGatewayFlags(command)
    .option(
      '--key-file <file>',
      "file with the master keys of workers' signed headers, one per line; reloaded when it changes",
      fileName,
    )
    .option('--validate', 'check of the routes file and the key file, without a start', false)
    .addOption(logLevelOption())
    .addHelpText('after', EXAMPLES)
    .action(async (flags: Flags) => {
      rejectMisplaced(flags);
      if (flags.validate) return validate(io, flags);
      // Imported lazily, so that other commands do not load it.
      const [{ runGateway }, { programLog }] = await Promise.all([
        import('../gateway/run-gateway.ts'),
        import('./output/program-log.ts'),
      ]);
      const log = await programLog(io, flags.logLevel);
      const options = {
        openRoutes: await routesFeed(io, flags),
        ...gatewayOptionsOf(io, flags),
        keyFile: flags.keyFile === undefined ? undefined : io.path(flags.keyFile),
      };
      // Exits explicitly: a blocked write or an unresponsive file system would keep the process alive forever.
      io.exit(await runGateway(options, log));
    });
}

/** Throws an error if the flags do not select one source of routes. */
function rejectMisplaced({ routes, kubernetes, validate, ...flags }: Flags): void {
  if (routes === undefined && !kubernetes) {
    throw new CommandError('no source of routes', 'pass --routes FILE or --kubernetes');
  }
  if (validate && routes === undefined) {
    throw new CommandError('--validate requires --routes', 'pass --routes FILE');
  }
  if (kubernetes && routes !== undefined) {
    throw new CommandError(
      `--routes '${routes}' and --kubernetes are mutually exclusive`,
      'remove one of them',
    );
  }
  const stray = (['edge', 'state', 'kubeconfig', 'context'] as const).find(
    (name) => flags[name] !== undefined,
  );
  if (kubernetes || stray === undefined) return;
  throw new CommandError(
    `--${stray} '${flags[stray]}' requires --kubernetes`,
    `pass --kubernetes or remove --${stray}`,
  );
}

/** Checks the files of the flags, and prints a line for each file that is valid and for each error. */
async function validate(io: CommandIo, { routes = '', keyFile }: Flags): Promise<void> {
  const { checkKeyFile, checkRoutesFile } = await import('../gateway/validate-files.ts');
  const checks = [{ kind: 'route', ...(await checkRoutesFile(io.path(routes), routes)) }];
  if (keyFile !== undefined)
    checks.push({ kind: 'key', ...checkKeyFile(io.path(keyFile), keyFile) });
  for (const { file, kind, count, errors } of checks) {
    for (const error of errors) printAdvice(io, 'error', adviceIn(error));
    if (errors.length > 0) io.exitCode = 2;
    else io.stdout.write(`${file}: valid, ${count} ${kind}${count === 1 ? '' : 's'}\n`);
  }
}

/** Returns the selected source of routes. Each kind is imported on demand. */
async function routesFeed(io: CommandIo, flags: Flags): Promise<OpenRoutesFeed> {
  const { routes, edge, state } = flags;
  if (routes !== undefined) {
    const { RoutesFile } = await import('../gateway/routes/routes-file.ts');
    return (sink) => new RoutesFile({ path: io.path(routes) }, sink);
  }
  const [{ KubernetesRoutes }, { createGatewayClient }, { openAccess }] = await Promise.all([
    import('../discovery/kubernetes-routes.ts'),
    import('../discovery/gateway-client.ts'),
    import('./io/open-access.ts'),
  ]);
  const client = createGatewayClient(openAccess(io, flags));
  const statePath = state === undefined ? undefined : io.path(state);
  return (sink) => new KubernetesRoutes({ client, edge, statePath }, sink);
}
