/**
 * The flags of `snicket doctor --from-worker`.
 */
import { InvalidArgumentError, Option, type Command } from 'commander';
import { domain } from '../../api/values/network-values.ts';
import { DEFAULT_VIRTUAL_ADDRESS } from '../../api/worker.ts';
import { parseListenAddress, type ListenAddress } from '../../net/listen-address.ts';
import { parseVirtualAddress } from '../../node-address/virtual-address.ts';
import { parseEdgeAddress, type EdgeAddress } from '../../net/edge-address.ts';
import { CommandError } from '../output/messages.ts';
import { fileName, parsedBy, wholeNumber } from '../flags/flag-values.ts';
import type { WorkerFields } from './from-worker.ts';

/** Values of the flags. */
export interface WorkerFlags {
  readonly fromWorker: boolean;
  readonly host?: string;
  readonly ca?: string;
  readonly edge?: EdgeAddress;
  readonly konnectivityHost?: string;
  readonly serviceAddress: ListenAddress;
  readonly virtualAddress: string | false;
  readonly proxyPort: number;
  readonly healthPort: number;
}

/** The flags that apply only with --from-worker. */
export const WORKER_FLAGS: readonly (keyof WorkerFlags)[] = [
  ...(['host', 'ca', 'edge', 'konnectivityHost'] as const),
  ...(['serviceAddress', 'virtualAddress', 'proxyPort', 'healthPort'] as const),
];

/** Adds the flags to a command and returns it. */
export function withWorkerFlags(command: Command): Command {
  return command
    .optionsGroup('Options for workers:')
    .option('--from-worker', 'check the path of this node and its pods, without a cluster', false)
    .option('--host <host>', 'API host of the tenant', parseHost)
    .option('--ca <file>', "file with the tenant's CA, as PEM", fileName)
    .addOption(
      new Option('--edge <host:port>', 'address of the edge').argParser(refused(parseEdgeAddress)),
    )
    .option(
      '--konnectivity-host <host>',
      'konnectivity host of the tenant (default: not checked)',
      parseHost,
    )
    .addOption(
      new Option('--service-address <ip:port>', 'address of Service default/kubernetes')
        .argParser(refused(parsePlace))
        .default({ address: '10.96.0.1', port: 443 }, '10.96.0.1:443'),
    )
    .addOption(
      new Option('--virtual-address <ip>', 'virtual address of the proxy')
        .argParser(refused(parseVirtualAddress))
        .default(DEFAULT_VIRTUAL_ADDRESS),
    )
    .option('--no-virtual-address', 'no virtual address: worker.address is Node')
    .option(
      '--proxy-port <port>',
      'port of the proxy, as worker.port',
      wholeNumber(1, 65_535),
      7443,
    )
    .option(
      '--health-port <port>',
      'health port of the proxy, as worker.healthPort',
      wholeNumber(1, 65_535),
      7444,
    );
}

/** Returns the values of the flags. @throws CommandError if a required one is missing */
export function workerArgumentsOf(flags: WorkerFlags): WorkerFields {
  const { host, ca, edge } = flags;
  if (host === undefined || ca === undefined || edge === undefined) {
    throw new CommandError(
      '--from-worker requires --host, --ca and --edge',
      'pass the API host of the tenant, the file with its CA, and the address of the edge as HOST:PORT',
    );
  }
  const { konnectivityHost, serviceAddress, virtualAddress, proxyPort, healthPort } = flags;
  return {
    host,
    ca,
    edge,
    konnectivityHost,
    serviceAddress,
    virtualAddress,
    proxyPort,
    healthPort,
  };
}

/** Accepts a name without a dot, which the node may have in /etc/hosts. */
function parseHost(text: string): string {
  const { data, success } = domain.safeParse(text.toLowerCase());
  if (success) return data;
  throw new InvalidArgumentError('must be a DNS name such as blue.k8s.example.com');
}

/** Parses one address to dial. */
function parsePlace(text: string): ListenAddress {
  const [place, ...others] = parseListenAddress(text);
  if (place === undefined || others.length > 0 || place.port === 0) {
    throw new TypeError(`must be an IP address and a port such as 10.96.0.1:443`);
  }
  return place;
}

function refused<Value>(parse: (text: string) => Value): (text: string) => Value {
  return (text) => parsedBy(() => parse(text));
}
