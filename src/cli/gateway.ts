import { Command, Option } from 'commander';
import { LOG_LEVELS, type LogLevel } from '../telemetry/log.ts';
import type { GatewayOptions } from '../gateway/options.ts';
import type { OpenRoutesFeed } from '../gateway/routes/routes-feed.ts';
import { fileName, objectName } from './flags/flag-values.ts';
import { accessOptions } from './io/access-options.ts';
import { gatewayOptionsOf, withGatewayFlags, type GatewayFlags } from './flags/gateway-flags.ts';
import {
  adviceIn,
  exitWithError,
  exitWithThrown,
  printAdvice,
  type Advice,
} from './output/messages.ts';
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
interface Flags extends GatewayFlags {
  readonly routes?: string;
  readonly kubernetes: boolean;
  readonly edge?: string;
  readonly state?: string;
  readonly kubeconfig?: string;
  readonly context?: string;
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
    .option('--state <file>', 'cache of the last routes, used at the next start', fileName)
    .option(
      '--kubeconfig <file>',
      'kubeconfig of the cluster (default: as kubectl, or in-cluster)',
      fileName,
    )
    .option('--context <name>', 'context of the kubeconfig')
    .optionsGroup('Options:');
  return withGatewayFlags(command)
    .option(
      '--key-file <file>',
      "file with the master keys of workers' signed headers, one per line; reloaded when it changes",
      fileName,
    )
    .option('--validate', 'check of the routes file and the key file, without a start', false)
    .addOption(
      new Option('--log-level <level>', 'log level on standard error')
        .choices(LOG_LEVELS)
        .default('info'),
    )
    .addHelpText('after', EXAMPLES)
    .action(async (flags: Flags, command: Command) => {
      const fault = routesFault(flags);
      if (fault !== undefined) exitWithError(command, fault.message, fault.hint);
      if (flags.validate) return validate(io, flags);
      // Imported lazily, so that other commands do not load it.
      const [{ runGateway }, { programLog }] = await Promise.all([
        import('../gateway/run-gateway.ts'),
        import('./output/program-log.ts'),
      ]);
      const log = await programLog(io, flags.logLevel);
      const options = await gatewayOptions(io, flags, command);
      // Exits explicitly: a blocked write or an unresponsive file system would keep the process alive forever.
      io.exit(await runGateway(options, log));
    });
}

/** Returns what is wrong with the flags that select the source of routes; undefined if nothing is. */
function routesFault(flags: Flags): Advice | undefined {
  const { routes, kubernetes } = flags;
  if (routes === undefined && !kubernetes) {
    return { message: 'no source of routes', hint: 'pass --routes FILE or --kubernetes' };
  }
  if (flags.validate && routes === undefined) {
    return { message: '--validate requires --routes', hint: 'pass --routes FILE' };
  }
  if (!kubernetes) {
    const stray = (['edge', 'state', 'kubeconfig', 'context'] as const).find(
      (name) => flags[name] !== undefined,
    );
    if (stray === undefined) return undefined;
    return {
      message: `--${stray} '${flags[stray]}' requires --kubernetes`,
      hint: `pass --kubernetes or remove --${stray}`,
    };
  }
  if (routes === undefined) return undefined;
  return {
    message: `--routes '${routes}' and --kubernetes are mutually exclusive`,
    hint: 'remove one of them',
  };
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
async function routesFeed(io: CommandIo, flags: Flags, command: Command): Promise<OpenRoutesFeed> {
  const { routes, edge, state, kubeconfig, context } = flags;
  if (routes !== undefined) {
    const { RoutesFile } = await import('../gateway/routes/routes-file.ts');
    return (sink) => new RoutesFile({ path: io.path(routes) }, sink);
  }
  const [{ KubernetesRoutes }, { createGatewayClient }, { defaultAccess }, { AccessError }] =
    await Promise.all([
      import('../discovery/kubernetes-routes.ts'),
      import('../discovery/gateway-client.ts'),
      import('../kube/access/default-access.ts'),
      import('../kube/access/cluster-access.ts'),
    ]);
  try {
    const client = createGatewayClient(defaultAccess(accessOptions(io, kubeconfig, context)));
    const statePath = state === undefined ? undefined : io.path(state);
    return (sink) => new KubernetesRoutes({ client, edge, statePath }, sink);
  } catch (error) {
    if (!(error instanceof AccessError)) throw error;
    return exitWithThrown(command, error);
  }
}

async function gatewayOptions(
  io: CommandIo,
  flags: Flags,
  command: Command,
): Promise<GatewayOptions> {
  return {
    openRoutes: await routesFeed(io, flags, command),
    ...gatewayOptionsOf(io, flags),
    keyFile: flags.keyFile === undefined ? undefined : io.path(flags.keyFile),
  };
}
