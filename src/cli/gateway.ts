import { Command, InvalidArgumentError, Option } from 'commander';
import { availableParallelism } from 'node:os';
import { parseListenAddress, type ListenAddress } from '../engine/listen-address.ts';
import { LOG_LEVELS, type LogLevel } from '../telemetry/log.ts';
import type { EngineChoice } from '../engine/open-engine.ts';
import type { GatewayOptions } from '../gateway/options.ts';
import type { OpenRoutesFeed } from '../gateway/routes/routes-feed.ts';
import { parseNetworks as networks } from '../gateway/switchboard/trusted-sources.ts';

const EXAMPLES = `
Examples:
  snicket gateway --routes routes.yaml
  snicket gateway --routes routes.yaml --listen 10.0.0.1:443 --listen '[fd00::1]:443' --workers 2
  snicket gateway --routes routes.yaml --proxy-protocol 10.0.0.0/8,fd00::/8 --access-log -
  snicket gateway --kubernetes --edge shared --state /state/routes.json --key-file /keys/master.key

A routes file:
  routes:
    - tenant: a
      host: a.k8s.example.com
      kind: api
      endpoints: ["10.0.0.5:6443", "[fd00::5]:6443"]
      limits: {connections: 5000, connectionsPerSecond: 100}

Signals:
  TERM, INT  not ready from now on, accept for --grace, close over --drain, end; once more: end at once
  HUP        open the access log anew`;

/** What Commander makes of the command line. */
interface Flags {
  readonly routes?: string;
  readonly kubernetes: boolean;
  readonly edge?: string;
  readonly state?: string;
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly listen: readonly ListenAddress[];
  readonly http: readonly ListenAddress[];
  readonly workers: number;
  readonly engine: EngineChoice;
  readonly proxyProtocol?: true | readonly string[];
  readonly grace: number;
  readonly drain: number;
  readonly maxConnections: number;
  readonly tenantConnections?: number;
  readonly tenantRate: number;
  readonly accessLog?: string;
  readonly keyFile?: string;
  readonly logLevel: LogLevel;
}

/** One tenant, were its endpoint the gateway itself, may not have more than one of so many parts of all connections. */
const FAIR_PARTS = 5;

/** `snicket gateway`: the shared address of all tenants. */
export function gatewayCommand(): Command {
  const cores = availableParallelism();
  return new Command('gateway')
    .description('route TLS connections to tenants by the name that clients ask for')
    .option(
      '--routes <file>',
      'the routes, YAML or JSON; watched, and changed with no restart',
      fileName,
    )
    .option(
      '--kubernetes',
      "the routes of a management cluster's Exposures, in place of a file",
      false,
    )
    .option('--edge <name>', 'with --kubernetes: of the Exposures of this Edge only')
    .option(
      '--state <file>',
      'with --kubernetes: keep the last routes here, to begin with after a restart',
      fileName,
    )
    .option(
      '--kubeconfig <file>',
      'with --kubernetes: how to reach the cluster; default: as kubectl does, or the pod itself',
      fileName,
    )
    .option('--context <name>', 'with --kubernetes: the context of the kubeconfig')
    .addOption(
      new Option('--listen <address>', 'where to accept clients; may be given several times')
        .argParser(collectAddresses)
        .default(parseListenAddress(':443'), ':443'),
    )
    .addOption(
      new Option('--http <address>', 'where /healthz, /readyz and /metrics are, or off')
        .argParser(parseHttp)
        .default(parseHttp(':9440'), ':9440'),
    )
    .addOption(
      new Option('--workers <n>', 'engine threads')
        .argParser(wholeNumber(1, 256))
        .default(cores, `one per core, ${cores} here`),
    )
    .addOption(
      new Option('--engine <name>', 'how sockets are driven')
        .choices(['auto', 'epoll', 'bun'])
        .default('auto')
        .env('SNICKET_ENGINE'),
    )
    .addOption(
      new Option(
        '--proxy-protocol [networks]',
        'want a PROXY v2 header of a load balancer before each connection; with a list such as 10.0.0.0/8,fd00::/8: from there, and from nowhere else',
      ).argParser(parseNetworks),
    )
    .addOption(
      new Option('--grace <seconds>', 'after TERM: how long clients are still accepted')
        .argParser(wholeNumber(0, 3600))
        .default(10),
    )
    .addOption(
      new Option('--drain <seconds>', 'after the grace: over how long connections are closed')
        .argParser(wholeNumber(0, 86_400))
        .default(20),
    )
    .addOption(
      new Option('--max-connections <n>', 'open connections over all threads')
        .argParser(wholeNumber(1, 10_000_000))
        .default(100_000),
    )
    .addOption(
      new Option(
        '--tenant-connections <n>',
        'open connections of a route that has no limit of its own; 0: no limit (default: a fifth of --max-connections)',
      ).argParser(wholeNumber(0, 10_000_000)),
    )
    .addOption(
      new Option('--tenant-rate <n>', 'new connections per second of such a route; 0: no limit')
        .argParser(wholeNumber(0, 1_000_000))
        .default(0),
    )
    .option(
      '--access-log <file>',
      'write one line of JSON per connection; - is standard output',
      fileName,
    )
    .option(
      '--key-file <file>',
      "master keys of the workers' signed headers, one per line; watched",
      fileName,
    )
    .addOption(
      new Option('--log-level <level>', 'what to log on standard error')
        .choices(LOG_LEVELS)
        .default('info'),
    )
    .addHelpText('after', EXAMPLES)
    .action(async (flags: Flags, command: Command) => {
      const fault = routesFault(flags);
      if (fault !== undefined) command.error(`error: ${fault}`);
      // Loaded here, so that the other commands do not pay for it.
      const [{ runGateway }, { createLogger }] = await Promise.all([
        import('../gateway/run-gateway.ts'),
        import('../telemetry/log.ts'),
      ]);
      const log = createLogger({ level: flags.logLevel });
      const options = await gatewayOptions(flags, command);
      // A write that nobody takes, or a file that does not answer, would keep the process for ever.
      process.exit(await runGateway(options, log));
    });
}

/** Why it is not clear where the routes come from. */
function routesFault(flags: Flags): string | undefined {
  const { routes, kubernetes } = flags;
  if (routes === undefined && !kubernetes) return 'give --routes FILE or --kubernetes';
  if (!kubernetes) {
    const stray = (['edge', 'state', 'kubeconfig', 'context'] as const).find(
      (name) => flags[name] !== undefined,
    );
    if (stray === undefined) return undefined;
    return `--${stray} '${flags[stray]}' belongs to --kubernetes; give that, or leave it out`;
  }
  if (routes === undefined) return undefined;
  return `--routes '${routes}' and --kubernetes both say where the routes come from; give one`;
}

/** Each kind of feed is loaded when it is asked for. */
async function routesFeed(flags: Flags, command: Command): Promise<OpenRoutesFeed> {
  const { routes, edge, state, kubeconfig, context } = flags;
  if (routes !== undefined) {
    const { RoutesFile } = await import('../gateway/routes/routes-file.ts');
    return (sink) => new RoutesFile({ path: routes }, sink);
  }
  const [{ KubernetesRoutes }, { createClient }, { defaultAccess }, { AccessError }] =
    await Promise.all([
      import('../discovery/kubernetes-routes.ts'),
      import('../kube/fetch-client.ts'),
      import('../kube/cluster-access-default.ts'),
      import('../kube/cluster-access.ts'),
    ]);
  try {
    const client = createClient(defaultAccess({ kubeconfig, context }));
    return (sink) => new KubernetesRoutes({ client, edge, statePath: state }, sink);
  } catch (error) {
    if (!(error instanceof AccessError)) throw error;
    return command.error(`error: ${error.message}`);
  }
}

async function gatewayOptions(flags: Flags, command: Command): Promise<GatewayOptions> {
  const { proxyProtocol } = flags;
  return {
    openRoutes: await routesFeed(flags, command),
    listen: flags.listen,
    http: flags.http,
    workers: flags.workers,
    engine: flags.engine,
    proxyProtocol: proxyProtocol === true ? 'everybody' : (proxyProtocol ?? 'nobody'),
    graceMs: flags.grace * 1000,
    drainMs: flags.drain * 1000,
    maxConnections: flags.maxConnections,
    tenantLimits: {
      connections: flags.tenantConnections ?? Math.ceil(flags.maxConnections / FAIR_PARTS),
      connectionsPerSecond: flags.tenantRate,
    },
    accessLog: flags.accessLog,
    keyFile: flags.keyFile,
  };
}

/** Commander passes the default as the first `previous`; it is replaced, not added to. */
const collected = new WeakSet<readonly ListenAddress[]>();

function collectAddresses(
  text: string,
  previous: readonly ListenAddress[],
): readonly ListenAddress[] {
  const before = collected.has(previous) ? previous : [];
  const addresses = [...before, ...refusing(() => parseListenAddress(text))];
  collected.add(addresses);
  return addresses;
}

function parseHttp(text: string): readonly ListenAddress[] {
  return text === 'off' ? [] : refusing(() => parseListenAddress(text));
}

function parseNetworks(text: string): readonly string[] {
  return refusing(() => networks(text));
}

/** An empty one is a variable that was never set. */
function fileName(text: string): string {
  if (text !== '') return text;
  throw new InvalidArgumentError('Write the name of a file.');
}

function wholeNumber(least: number, most: number): (text: string) => number {
  return (text) => {
    const number = /^\d+$/.test(text) ? Number(text) : Number.NaN;
    if (number >= least && number <= most) return number;
    throw new InvalidArgumentError(`Write a whole number from ${least} to ${most}.`);
  };
}

/** Commander prints an InvalidArgumentError behind the option and its value, and ends with the code for usage. */
function refusing<Value>(parse: () => Value): Value {
  try {
    return parse();
  } catch (error) {
    throw new InvalidArgumentError(error instanceof Error ? `${error.message}.` : String(error));
  }
}
