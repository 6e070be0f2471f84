import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { run } from '../../world/machine/command.ts';
import { fileLimit } from '../lab/placement.ts';
import type { Launch } from '../lab/program.ts';
import { freePort, HOST, type Environment } from '../lab/environment.ts';
import { unstableTree, type UnstableTree } from '../programs/unstable.ts';
import type { Peer } from './peer.ts';

/** HAProxy refuses to start if its sockets and pipes could exceed the limit of open files. */
const MAX_CONNECTIONS = Math.min(10_000, Math.floor(fileLimit / 2) - 100);

/** HAProxy's defaults with one thread, as for all peers, and the timeouts that it warns about if missing. No log. */
const COMMON = `
global
  nbthread 1
  maxconn ${MAX_CONNECTIONS}
  maxpipes 32
defaults
  mode tcp
  timeout connect 5s
  timeout client 600s
  timeout server 600s
  timeout tunnel 600s
`;

const SPLICE = `
  option splice-request
  option splice-response
`;

/** Routes by SNI from a map file, as ingress controllers on HAProxy do. */
const sniFrontend = (port: number, map: string) => `
frontend sni
  bind 127.0.0.1:${port} backlog 4096
  tcp-request inspect-delay 5s
  tcp-request content accept if { req.ssl_hello_type 1 }
  use_backend %[req.ssl_sni,lower,map(${map},none)]
`;

/** Accepts a PROXY v2 header and routes by its authority. */
const authorityFrontend = (port: number, map: string) => `
frontend authority
  bind 127.0.0.1:${port} accept-proxy backlog 4096
  use_backend %[fc_pp_authority,lower,map(${map},none)]
`;

const tenantBackend = (port: number) => `
backend tenant
  server backend 127.0.0.1:${port}
backend none
  tcp-request content reject
`;

/** The Debian packages of all peers, in one tree. */
export const PEER_PACKAGES = ['haproxy', 'nginx', 'libnginx-mod-stream'] as const;

let tree: Promise<UnstableTree> | undefined;

/** Returns the tree with HAProxy and nginx, and unpacks it on first use. */
export function peerTree(): Promise<UnstableTree> {
  tree ??= unstableTree(PEER_PACKAGES);
  return tree;
}

/** Returns HAProxy's command line: from Debian unstable, or else the installed version. */
async function haproxy(): Promise<string[]> {
  try {
    return (await peerTree()).command('usr/sbin/haproxy');
  } catch (error) {
    const installed = Bun.which('haproxy', { PATH: `${process.env['PATH']}:/usr/sbin` });
    if (installed === null) throw error;
    return [installed];
  }
}

async function haproxyVersion(): Promise<string> {
  const { stdout } = await run([...(await haproxy()), '-v']);
  return /^HAProxy version \S+/.exec(stdout)?.[0] ?? stdout.split('\n')[0] ?? '';
}

async function launch(
  environment: Environment,
  name: string,
  port: number,
  config: string,
): Promise<Launch> {
  const file = join(environment.folder, `${name}.cfg`);
  writeFileSync(file, config);
  return { argv: [...(await haproxy()), '-db', '-f', file], port };
}

function mapFile(environment: Environment, hosts: readonly string[]): string {
  const file = join(environment.folder, `hosts-${hosts.length}.map`);
  writeFileSync(file, hosts.map((host) => `${host} tenant\n`).join(''));
  return file;
}

function peer(
  values: Pick<Peer, 'name' | 'role' | 'kinds' | 'title'>,
  config: (environment: Environment, port: number) => string,
): Peer {
  return {
    ...values,
    version: haproxyVersion,
    launch: (environment) => {
      const port = freePort();
      return launch(environment, values.name, port, config(environment, port));
    },
  };
}

/** HAProxy at the edge, and on a worker in the two modes of Snicket's proxy. */
export const haproxyPeers: readonly Peer[] = [
  peer(
    { name: 'haproxy', role: 'gateway', kinds: ['plain', 'tls'], title: 'HAProxy, routing by SNI' },
    (environment, port) =>
      COMMON +
      sniFrontend(port, mapFile(environment, [HOST])) +
      tenantBackend(environment.backendPort),
  ),
  peer(
    {
      name: 'haproxy-splice',
      role: 'gateway',
      kinds: ['plain', 'tls'],
      title: 'HAProxy with its splice options',
    },
    (environment, port) =>
      COMMON +
      SPLICE +
      sniFrontend(port, mapFile(environment, [HOST])) +
      tenantBackend(environment.backendPort),
  ),
  peer(
    {
      name: 'haproxy-passthrough',
      role: 'proxy',
      kinds: ['plain', 'tls'],
      title: 'HAProxy, raw bytes after a PROXY v2 header with the authority',
    },
    (environment, port) => `${COMMON}
frontend worker
  bind 127.0.0.1:${port} backlog 4096
  default_backend edge
backend edge
  server edge 127.0.0.1:${environment.edgeProxyPort} send-proxy-v2 set-proxy-v2-tlv-fmt(0x02) %[str(${HOST})]
`,
  ),
  peer(
    {
      name: 'haproxy-terminate',
      role: 'proxy',
      kinds: ['tls'],
      title: 'HAProxy, terminating and re-encrypting TLS, verified',
    },
    (environment, port) => `${COMMON}
frontend worker
  bind 127.0.0.1:${port} ssl crt ${environment.files.leafPair} no-tls-tickets backlog 4096
  default_backend edge
backend edge
  server edge 127.0.0.1:${environment.edgePort} ssl verify required ca-file ${environment.files.ca} sni str(${HOST}) no-ssl-reuse
`,
  ),
];

/**
 * Starts the edge behind all workers' proxies, so that only the proxies differ. It routes by the authority in the
 * header and does not verify signatures.
 */
export async function launchEdge(environment: Environment): Promise<Launch> {
  const map = mapFile(environment, [HOST]);
  const config =
    COMMON +
    sniFrontend(environment.edgePort, map) +
    authorityFrontend(environment.edgeProxyPort, map) +
    tenantBackend(environment.backendPort);
  return launch(environment, 'edge', environment.edgePort, config);
}
