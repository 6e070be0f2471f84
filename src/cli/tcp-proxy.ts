import { Argument, Command, InvalidArgumentError, Option } from 'commander';
import { hostname } from 'node:os';
import { parseListenAddress, type ListenAddress } from '../net/listen-address.ts';
import {
  isInCluster,
  SERVICE_ACCOUNT_FOLDER,
  type Environment,
} from '../kube/access/in-cluster.ts';
import { parseGoBoolean } from '../tcp-proxy/go-values.ts';
import { parseDuration } from '../text/duration.ts';
import { MAX_INTERVAL_MS, settingsOf, type TcpProxySettings } from '../tcp-proxy/settings.ts';
import type { LogLevel } from '../telemetry/log.ts';
import { parsedBy } from './flags/flag-values.ts';
import { signaled } from './io/signaled.ts';
import { programLog } from './output/program-log.ts';
import { adviceIn, CommandError, asCommandError, printAdvice } from './output/messages.ts';
import type { CommandIo } from './io/command-io.ts';

const EXAMPLES = `
Environment:
  POD_IP
      address of the node, published for pods (default: the source address of
      connections to the upstream)
  UPSTREAM_ADDR, TLS_CERT_FILE, TLS_KEY_FILE
      defaults of the flags
  KUBERNETES_SERVICE_HOST, KUBERNETES_SERVICE_PORT
      address of the API server; Steward sets them to the upstream

Other flags of klog, such as --logtostderr and --vmodule, are accepted and
ignored. Logs are JSON lines. All flags can be written with one dash, as in Go,
and without the command tcp-proxy, as Steward does.

Examples:
  As Steward starts it for a tenant behind an ingress:
    snicket tcp-proxy --upstream-addr=green.k8s.example.com:443 \\
      --listen-addr=:6443 --upstream-insecure=true \\
      --tls-cert-file=/etc/tcp-proxy/tls/tls.crt \\
      --tls-key-file=/etc/tcp-proxy/tls/tls.key
  As Steward starts it for a tenant with its own load balancer; TLS is passed
  through:
    snicket tcp-proxy \\
      --upstream-addr=203.0.113.7:6443 --listen-addr=:6443

Exit codes:
  0  stopped by a signal
  1  a listen address is not available, or the pod has no access to its API
  2  invalid command line, or a file that cannot be used`;

/** Flags of klog, which do not apply here. Accepted, so that existing command lines keep working. */
const KLOG_FLAGS = [
  ...['add_dir_header', 'alsologtostderr', 'log_backtrace_at', 'log_dir', 'log_file'],
  ...['log_file_max_size', 'logtostderr', 'one_output', 'skip_headers', 'skip_log_headers'],
  ...['stderrthreshold', 'vmodule'],
] as const;

/** The klog level from which users expect a line for each connection. */
const DEBUG_VERBOSITY = 4;

const CLEANUP_TIMEOUT_MS = 5_000;
/** Grace, drain and cleanup together are shorter than the 30 seconds that a pod of Steward has to terminate. */
const GRACE_MS = 5_000;
const DRAIN_MS = 15_000;

interface Flags {
  readonly listenAddr: string;
  readonly upstreamAddr?: string;
  readonly serviceName: string;
  readonly servicePort?: number;
  readonly reconcileInterval: number;
  readonly tlsCertFile?: string;
  readonly tlsKeyFile?: string;
  readonly upstreamSni?: string;
  readonly upstreamInsecure: boolean;
  readonly http: readonly ListenAddress[];
  readonly v: number;
}

/** Runs the proxy with the parsed command line. */
type RunTcpProxy = (io: CommandIo, settings: TcpProxySettings, level: LogLevel) => Promise<void>;

/** `snicket tcp-proxy`: replaces steward-tcp-proxy. */
export function tcpProxyCommand(io: CommandIo, runWith: RunTcpProxy = run): Command {
  const command = new Command('tcp-proxy')
    .description('Run the proxy of a worker as a replacement for steward-tcp-proxy')
    .option('--listen-addr <address>', 'listen address for pods', ':6443')
    .option('--upstream-addr <host:port>', 'API host of the tenant, or its address; required')
    .option(
      '--tls-cert-file <file>',
      'file with the serving certificate; without it, TLS is passed through',
    )
    .option('--tls-key-file <file>', 'file with its private key')
    .option('--upstream-sni <name>', 'server name sent to the upstream (default: its host)')
    .addOption(
      new Option(
        '--upstream-insecure [boolean]',
        'accepted and ignored: the upstream is always verified',
      )
        .argParser((text) => parsedBy(() => parseGoBoolean(text)))
        .default(false),
    )
    .option(
      '--service-name <name>',
      'Service in kube-system that owns the Leases and gives them their name',
      'steward-tcp-proxy',
    )
    .option(
      '--service-port <port>',
      'accepted and ignored: the EndpointSlice has the port of --listen-addr',
      portNumber,
    )
    .addOption(
      new Option(
        '--reconcile-interval <duration>',
        'maximum interval between two checks of the EndpointSlice',
      )
        .argParser((text) => parsedBy(() => parseDuration(text)))
        .default(MAX_INTERVAL_MS, '5s'),
    )
    .addOption(
      new Option('--http <address>', 'listen address of /healthz, /readyz and /metrics')
        .argParser((text) => parsedBy(() => parseListenAddress(text)))
        .default([], 'none'),
    )
    .option('--v <level>', 'log verbosity; 4 or more logs debug messages', verbosity, 0);
  for (const name of KLOG_FLAGS) {
    command.addOption(new Option(`--${name} [value]`).hideHelp());
  }
  return command
    .addHelpText('after', EXAMPLES)
    .usage('[options]')
    .allowUnknownOption() // rejectUnknown() explains flags of later versions
    .addArgument(new Argument('[words...]'))
    .action(async (words: readonly string[], flags: Flags) => {
      rejectUnknown(words);
      const level = flags.v >= DEBUG_VERBOSITY ? 'debug' : 'info';
      await runWith(io, read(flags, io.env), level);
    });
}

function rejectUnknown(words: readonly string[]): void {
  const word = words.find((one) => one.startsWith('-')) ?? words[0];
  if (word === undefined) return;
  throw new CommandError(
    `unknown argument '${word}': Snicket has the flags of steward-tcp-proxy v0.2.0`,
    'see --help; if a later version of Steward passes it, set addons.tcpProxy.image to an image that supports it',
  );
}

function read(flags: Flags, env: Environment): TcpProxySettings {
  try {
    return settingsOf({ ...flags, reconcileIntervalMs: flags.reconcileInterval }, env);
  } catch (error) {
    throw asCommandError(error);
  }
}

async function run(io: CommandIo, settings: TcpProxySettings, level: LogLevel): Promise<void> {
  const log = await programLog(io, level);
  if (!isInCluster(io.env)) {
    return fail(
      io,
      'not running in a pod: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set; outside of a pod, use snicket proxy',
    );
  }
  io.signals.on('SIGHUP', () => log.info('SIGHUP: nothing to reopen'));
  // Imported lazily, so that other commands do not load it.
  const [{ startTcpProxy }, { AddressUnavailable }, { AccessError }] = await Promise.all([
    import('../tcp-proxy/tcp-proxy.ts'),
    import('../proxy/proxy.ts'),
    import('../kube/access/cluster-access.ts'),
  ]);
  const running = await startTcpProxy(settings, {
    env: io.env,
    serviceAccountFolder: SERVICE_ACCOUNT_FOLDER,
    identity: `${hostname()}-${crypto.randomUUID().slice(0, 8)}`,
    log,
  }).catch((error: unknown) => {
    const sentence = error instanceof Error ? error.message : String(error);
    const isOfMachine = error instanceof AddressUnavailable || error instanceof AccessError;
    if (isOfMachine) return fail(io, sentence);
    // The message names the flags of `snicket proxy`.
    throw asCommandError(
      `${sentence} (--cert and --key are --tls-cert-file and --tls-key-file here)`,
    );
  });
  const { proxy } = running;
  const mode = settings.serving === undefined ? 'passthrough' : 'terminate';
  log.info('accepting connections', { mode, ports: proxy.ports, http: proxy.httpPorts });

  const second = new AbortController();
  await signaled(io);
  log.info('leaving', { leaveMs: CLEANUP_TIMEOUT_MS, graceMs: GRACE_MS, drainMs: DRAIN_MS });
  void signaled(io).then(() => second.abort());
  await running.leave(AbortSignal.any([second.signal, AbortSignal.timeout(CLEANUP_TIMEOUT_MS)]));
  await proxy.drain(GRACE_MS, DRAIN_MS, second.signal);
  running.stop();
  io.exit(0); // a dial that cannot be canceled would keep the process alive for minutes
}

/** Exits with code 1: the machine is at fault, not the command line. */
function fail(io: CommandIo, sentence: string): never {
  printAdvice(io, 'error', adviceIn(sentence));
  return io.exit(1);
}

function portNumber(text: string): number {
  const port = Number(text);
  if (/^\d{1,5}$/.test(text) && port >= 1 && port <= 65_535) return port;
  throw new InvalidArgumentError('must be a port from 1 to 65535');
}

function verbosity(text: string): number {
  if (/^-?\d{1,9}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('must be an integer');
}
