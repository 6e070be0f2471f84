import { Argument, Command } from 'commander';
import type { ListenAddress } from '../net/listen-address.ts';
import { adviceFor, CannotListen, listenOnAll } from '../net/listen-all.ts';
import type { NodeAddresses } from '../node-address/node-addresses.ts';
import { parseVirtualAddress } from '../node-address/virtual-address.ts';
import { listenAddresses, parsedBy } from './flags/flag-values.ts';
import { signaled } from './io/signaled.ts';
import { adviceIn, CommandError, printAdvice } from './output/messages.ts';
import type { CommandIo } from './io/command-io.ts';

const EXAMPLES = `
Examples:
  snicket address add 100.64.64.1 fd00:64::1  # idempotent
  snicket address check 100.64.64.1           # exit code 1 if missing
  snicket address remove 100.64.64.1          # only if Snicket added it
  snicket address remove 100.64.64.1 --stay --http 127.0.0.1:9443

Adding and removing require the capability NET_ADMIN. With --stay, the command
then runs until SIGTERM, as the container of a DaemonSet must.

Exit codes:
  0  success; with check: all addresses are present
  1  with check: an address is missing or misconfigured; otherwise: the system
     rejected the change
  2  invalid command line`;

type Action = 'add' | 'remove' | 'check';

interface Flags {
  readonly stay: boolean;
  readonly http?: readonly ListenAddress[];
}

/** `snicket address`: manages the virtual addresses on which the proxy of a node serves its pods. */
export function addressCommand(io: CommandIo): Command {
  return new Command('address')
    .description('Add, remove or check virtual addresses on this machine (lo)')
    .addArgument(new Argument('<action>').choices(['add', 'remove', 'check'] satisfies Action[]))
    .argument('<ip...>', 'IPv4 or IPv6 addresses, without a prefix length', virtualAddresses)
    .option('--stay', 'after removing: run until SIGTERM', false)
    .option(
      '--http <address>',
      'with --stay: listen address of /healthz and /readyz',
      listenAddresses,
    )
    .addHelpText('after', EXAMPLES)
    .action(async (action: Action, ips: ReadonlySet<string>, flags: Flags) => {
      rejectMisplaced(action, flags);
      // Imported lazily, because it opens libc, which help does not need.
      const { NodeAddresses } = await import('../node-address/node-addresses.ts');
      try {
        using node = new NodeAddresses();
        await run(action, [...ips], flags, node, io);
      } catch (error) {
        // The machine is at fault, not the command line: exit code 1.
        printAdvice(io, 'error', adviceIn(error instanceof Error ? error.message : String(error)));
        io.exitCode = 1;
      }
    });
}

function rejectMisplaced(action: Action, { stay, http }: Flags): void {
  if (stay && action !== 'remove') {
    throw new CommandError(`--stay applies to remove, not to ${action}`, 'remove --stay');
  }
  if (stay !== (http !== undefined)) {
    throw new CommandError('--stay and --http require each other', 'pass both or neither');
  }
}

async function run(
  action: Action,
  ips: readonly string[],
  { http }: Flags,
  node: NodeAddresses,
  io: CommandIo,
): Promise<void> {
  const print = (line: string) => io.stdout.write(`${line}\n`);
  switch (action) {
    case 'add':
      for (const ip of ips) print(`${ip}: ${node.add(ip)}`);
      break;
    case 'check':
      for (const ip of ips) {
        const fault = node.fault(ip);
        if (fault !== undefined) io.exitCode = 1;
        print(fault ?? `${ip} is on lo`);
      }
      break;
    case 'remove':
      for (const ip of ips) {
        const { removed, remaining } = node.remove(ip);
        if (removed) print(`${ip}: removed`);
        else if (remaining === undefined) print(`${ip}: absent`);
        if (remaining !== undefined) print(`${remaining}: not managed by Snicket, left in place`);
      }
      if (http !== undefined) await stay(ips, http, node, io);
  }
}

/** Waits for SIGTERM, because kubelet restarts a container that exits. Ready while none of the addresses is on lo. */
async function stay(
  ips: readonly string[],
  http: readonly ListenAddress[],
  node: NodeAddresses,
  io: CommandIo,
): Promise<void> {
  const print = (line: string) => io.stdout.write(`${line}\n`);
  const stopped = signaled(io);
  const { serveHttp } = await import('../telemetry/http.ts');
  const { Metrics } = await import('../telemetry/metrics.ts');
  const metrics = new Metrics();
  const notReady = (): string | undefined => {
    const back = ips.filter((ip) => node.has(ip));
    return back.length === 0 ? undefined : `still on lo: ${back.join(', ')}`;
  };
  const listen = (at: ListenAddress) =>
    serveHttp({ ...at, metrics, notReady, reusePort: at.port !== 0 });
  const servers = listenOrThrow(() =>
    listenOnAll({ listen }, http, ({ message }) => print(`${message}; listening on IPv4 only`)),
  );
  print(
    `running until SIGTERM: http on port ${[...new Set(servers.map(({ port }) => port))].join(', ')}`,
  );
  await stopped;
  for (const server of servers) server.stop();
}

function listenOrThrow<Listening>(listen: () => Listening): Listening {
  try {
    return listen();
  } catch (error) {
    if (!(error instanceof CannotListen)) throw error;
    throw new Error(`${error.message}; ${adviceFor(error)}`, { cause: error });
  }
}

function virtualAddresses(text: string, before: ReadonlySet<string> = new Set()): Set<string> {
  return new Set([...before, parsedBy(() => parseVirtualAddress(text))]);
}
