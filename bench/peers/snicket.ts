/** The peers of Snicket. */
import { existsSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { repository } from '../../world/repository.ts';
import { run } from '../../world/machine/command.ts';
import type { Launch } from '../lab/program.ts';
import { freePort, HOST, type Environment } from '../lab/environment.ts';
import { MissingProgramError } from '../programs/missing.ts';
import type { Peer } from './peer.ts';

/**
 * The compiled program from `make build`; SNICKET=path selects another build. From source it would need 20 MB more
 * memory.
 */
const program = resolve(process.env['SNICKET'] ?? join(repository, 'dist', 'snicket'));

async function version(): Promise<string> {
  if (!existsSync(program)) throw new MissingProgramError(`there is no ${program}: run make build`);
  return (await run([program, 'version'])).stdout.trim().replaceAll('\n', ', ');
}

/** Returns the text of a routes file with the backend as endpoint of all hosts. */
export function routesText(hosts: readonly string[], backendPort: number): string {
  const endpoints = [`127.0.0.1:${backendPort}`];
  const routes = hosts.map((host) => ({
    tenant: host.split('.')[0],
    host,
    endpoints,
    kind: 'api',
  }));
  return JSON.stringify({ routes });
}

/** Returns how to start the gateway with these routes. */
export function launchGateway(
  environment: Environment,
  engine: 'epoll' | 'bun',
  hosts: readonly string[],
): Launch & { readonly routesFile: string } {
  const port = freePort();
  const routesFile = join(environment.folder, `routes-${port}.json`);
  writeFileSync(routesFile, routesText(hosts, environment.backendPort));
  const argv = [
    ...[program, 'gateway', '--routes', routesFile, '--engine', engine, '--workers', '1'],
    ...['--listen', `127.0.0.1:${port}`, '--http', `127.0.0.1:${freePort()}`],
    ...['--key-file', environment.files.masterKey],
  ];
  return { argv, port, routesFile };
}

function gateway(engine: 'epoll' | 'bun'): Peer {
  return {
    name: `snicket-${engine}`,
    role: 'gateway',
    kinds: ['plain', 'tls'],
    hasJit: true,
    title: `snicket gateway, engine ${engine}`,
    version,
    async launch(environment) {
      return launchGateway(environment, engine, [HOST]);
    },
  };
}

function proxyArguments(environment: Environment, port: number, edgePort: number): string[] {
  return [
    ...['--listen', `127.0.0.1:${port}`, '--http', `127.0.0.1:${freePort()}`],
    ...['--edge', `127.0.0.1:${edgePort}`, '--server-name', HOST, '--ca', environment.files.ca],
  ];
}

/** The gateway with both engines, and the proxy in both modes. */
export const snicketPeers: readonly Peer[] = [
  gateway('epoll'),
  gateway('bun'),
  {
    name: 'snicket-passthrough',
    role: 'proxy',
    kinds: ['plain', 'tls'],
    hasJit: true,
    title: 'snicket proxy, mode passthrough with a signed header',
    version,
    async launch(environment) {
      const port = freePort();
      const key = ['--tenant-key-file', environment.files.tenantKey];
      const rest = proxyArguments(environment, port, environment.edgeProxyPort);
      return { argv: [program, 'proxy', '--mode', 'passthrough', ...key, ...rest], port };
    },
  },
  {
    name: 'snicket-terminate',
    role: 'proxy',
    kinds: ['tls'],
    hasJit: true,
    title: 'snicket proxy, mode terminate',
    version,
    async launch(environment) {
      const port = freePort();
      const pair = [
        '--cert',
        environment.files.leafCertificate,
        '--key',
        environment.files.leafKey,
      ];
      const rest = proxyArguments(environment, port, environment.edgePort);
      return { argv: [program, 'proxy', '--mode', 'terminate', ...pair, ...rest], port };
    },
  },
];
