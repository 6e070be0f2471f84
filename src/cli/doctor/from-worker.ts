/**
 * `snicket doctor --from-worker`: the way of a node and of its pods, tried from that node. No API is asked.
 */
import { readFileSync } from 'node:fs';
import { platform } from 'node:os';
import { skippedForSameCause, type HopResult } from '../../probe/hop.ts';
import { probeExposure } from '../../probe/probe-exposure.ts';
import { probeNode, type Place } from '../../probe/probe-node.ts';
import { parseAuthorities } from '../../probe/tls/authorities.ts';
import type { EdgeAddress } from '../../net/edge-address.ts';
import type { CommandIo } from '../io/command-io.ts';

/** What a person says of the tenant. */
export interface WorkerWords {
  readonly host: string;
  /** A file. */
  readonly ca: string;
  readonly edge: EdgeAddress;
  readonly konnectivityHost?: string | undefined;
  readonly serviceAddress: Place;
  /** False: the proxies are found by the addresses of their nodes. */
  readonly virtualAddress: string | false;
  readonly proxyPort: number;
  readonly healthPort: number;
}

/** That the words cannot be used; the message says why, and what to do. */
export class UnusableWords extends Error {
  override readonly name = 'UnusableWords';
}

/** Tries the hops that a node can try. @throws UnusableWords */
export async function examineWorker(
  io: Pick<CommandIo, 'path'>,
  words: WorkerWords,
  { signal, timeoutMs }: { readonly signal: AbortSignal; readonly timeoutMs: number },
): Promise<readonly HopResult[]> {
  const { host, konnectivityHost, edge, ca, virtualAddress } = words;
  if (platform() !== 'linux') {
    throw new UnusableWords('--from-worker is for a node, and so for Linux; run it there');
  }
  const tenantCa = readAuthorities(io, ca);
  const way = await probeExposure(
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
      service: words.serviceAddress,
      proxyPort: words.proxyPort,
      healthPort: words.healthPort,
      virtualAddress: virtualAddress === false ? undefined : virtualAddress,
    },
    { signal, timeoutMs, node },
  );
  const cut = way.find(({ name, state }) => state === 'Fail' && WAY.has(name));
  return [
    ...(konnectivityHost === undefined ? way.filter(({ name }) => name !== 'konnectivity') : way),
    ...own.map((hop) =>
      cut !== undefined && isEcho(hop) ? skippedForSameCause(hop, `hop ${cut.name}`) : hop,
    ),
  ];
}

/** A proxy that runs is as well as its way to the tenant; in mode Passthrough even its certificate is the tenant's. */
function isEcho({ name, state, code }: HopResult): boolean {
  return name === 'node-proxy' && state === 'Fail' && code !== 'NodeProxyAbsent';
}

/** The hops that a proxy needs; it does not ask DNS. */
const WAY: ReadonlySet<string> = new Set(['edge', 'sni', 'certificate', 'api']);

function readAuthorities(io: Pick<CommandIo, 'path'>, file: string): string {
  try {
    const text = readFileSync(io.path(file), 'utf8');
    parseAuthorities(text);
    return text;
  } catch (error) {
    if (error instanceof TypeError) {
      throw new UnusableWords(
        `--ca ${file}: ${error.message}; name a file with the tenant's CA as PEM`,
      );
    }
    if (!(error instanceof Error && 'code' in error)) throw error;
    throw new UnusableWords(
      `--ca ${file} cannot be read (${String(error.code)}); kubeadm has it at /etc/kubernetes/pki/ca.crt`,
    );
  }
}
