/**
 * `snicket doctor --from-worker`: probes the path of a node and of its pods from that node. Reads no objects from an
 * API server.
 */
import { readFileSync } from 'node:fs';
import { platform } from 'node:os';
import { skippedForSameCause, type HopResult } from '../../probe/hop.ts';
import { probeExposure } from '../../probe/probe-exposure.ts';
import { probeNode, type Endpoint } from '../../probe/probe-node.ts';
import { parseAuthorities } from '../../probe/tls/authorities.ts';
import type { EdgeAddress } from '../../net/edge-address.ts';
import { CommandError } from '../output/messages.ts';
import type { CommandIo } from '../io/command-io.ts';

/** The tenant as described by flags. */
export interface WorkerFields {
  readonly host: string;
  /** Name of a file. */
  readonly ca: string;
  readonly edge: EdgeAddress;
  readonly konnectivityHost?: string | undefined;
  readonly serviceAddress: Endpoint;
  /** False: pods reach the proxies at the addresses of their nodes. */
  readonly virtualAddress: string | false;
  readonly proxyPort: number;
  readonly healthPort: number;
}

/** Probes the hops that a node can reach. @throws CommandError */
export async function examineWorker(
  io: Pick<CommandIo, 'path'>,
  fields: WorkerFields,
  { signal, timeoutMs }: { readonly signal: AbortSignal; readonly timeoutMs: number },
): Promise<readonly HopResult[]> {
  const { host, konnectivityHost, edge, ca, virtualAddress } = fields;
  if (platform() !== 'linux') {
    throw new CommandError(
      `--from-worker requires Linux (running on ${platform()})`,
      'run it on a node',
    );
  }
  const tenantCa = readAuthorities(io, ca);
  const path = await probeExposure(
    {
      apiHost: host,
      konnectivityHost,
      port: edge.port,
      edgeAddresses: [edge.host],
      tenantCa,
    },
    { signal, timeoutMs },
  );
  const { NodeAddresses } = await import('../../node-address/node-addresses.ts');
  using node = new NodeAddresses();
  const own = await probeNode(
    {
      tenantCa,
      caFile: io.path(ca),
      service: fields.serviceAddress,
      proxyPort: fields.proxyPort,
      healthPort: fields.healthPort,
      virtualAddress: virtualAddress === false ? undefined : virtualAddress,
    },
    { signal, timeoutMs, node },
  );
  const cut = path.find(({ name, state }) => state === 'Fail' && PATH_HOPS.has(name));
  return [
    ...(konnectivityHost === undefined ? path.filter(({ name }) => name !== 'konnectivity') : path),
    ...own.map((hop) =>
      cut !== undefined && hasSameCause(hop) ? skippedForSameCause(hop, `hop ${cut.name}`) : hop,
    ),
  ];
}

/**
 * Reports whether the hop fails for the same reason as the path to the tenant. A running proxy depends on that path; in
 * mode Passthrough even its certificate is the tenant's.
 */
function hasSameCause({ name, state, code }: HopResult): boolean {
  return name === 'node-proxy' && state === 'Fail' && code !== 'NodeProxyAbsent';
}

/** The hops that a proxy depends on. A proxy does not use DNS. */
const PATH_HOPS: ReadonlySet<string> = new Set(['edge', 'sni', 'certificate', 'api']);

function readAuthorities(io: Pick<CommandIo, 'path'>, file: string): string {
  try {
    const text = readFileSync(io.path(file), 'utf8');
    parseAuthorities(text);
    return text;
  } catch (error) {
    if (error instanceof TypeError) {
      throw new CommandError(
        `cannot read --ca ${file}: ${error.message}`,
        `pass a file with the tenant's CA as PEM`,
      );
    }
    if (!(error instanceof Error && 'code' in error)) throw error;
    throw new CommandError(
      `cannot read --ca ${file}: ${String(error.code)}`,
      'on a kubeadm node it is /etc/kubernetes/pki/ca.crt',
    );
  }
}
