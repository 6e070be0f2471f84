/**
 * `snicket doctor edge` against real edges in front of two real kube-apiservers: HAProxy and nginx as in the benchmark,
 * Traefik as in a world, and the gateway. It prints the table of docs/tasks/doctor-edge.md.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { peerTree } from '../bench/peers/haproxy.ts';
import { MissingProgramError } from '../bench/programs/missing.ts';
import type { CheckResult } from '../src/probe/edge-conformance/check-result.ts';
import type { Cluster } from '../world/cluster/cluster.ts';
import { route, startEdge } from '../world/edges/edge.ts';
import { CommandError, run } from '../world/machine/command.ts';
import { partFolder } from '../world/parts/cache.ts';
import { edgeParts } from '../world/parts/catalog.ts';
import { terminalProgress } from '../world/parts/progress.ts';
import { repository } from '../world/repository.ts';
import { API_PORT } from '../world/spec.ts';
import { tenantNamespace } from '../world/tenant-service.ts';
import { waitFor } from '../world/wait.ts';
import { World, type NetworkHost } from '../world/world.ts';

const SNICKET = [process.execPath, join(repository, 'src', 'main.ts')] as const;
const PORT = 443;

/** Output of `-o json`. */
interface Report {
  readonly checks: readonly CheckResult[];
}

let world: World;
let laptop: NetworkHost;
const columns = new Map<string, readonly CheckResult[]>();

beforeAll(async () => {
  const noWorkers = { workers: 0 };
  world = await World.start(
    { management: noWorkers, tenants: { a: noWorkers, b: noWorkers } },
    { progress: terminalProgress() },
  );
  laptop = await world.addHost('laptop');
  for (const { name, controlPlane } of tenants()) {
    writeFileSync(fileOf(laptop, `${name}.crt`), controlPlane.authority.certificate);
  }
});

afterAll(async () => {
  console.log(table());
  await world?.stop();
});

test("Snicket's gateway passes all checks", async () => {
  const edge = await world.addHost('gateway');
  const routes = tenants().map(({ name, plan }) => ({
    tenant: name,
    host: plan.hosts.api,
    kind: 'api',
    endpoints: [`${plan.address}:${API_PORT}`],
  }));
  writeFileSync(fileOf(edge, 'routes.json'), JSON.stringify({ routes }));
  const listen = ['--listen', `${edge.address}:${PORT}`, '--http', `${edge.address}:9440`];
  const args = ['gateway', '--routes', fileOf(edge, 'routes.json'), ...listen];
  await edge.host.start('gateway', [...SNICKET, ...args]);
  const { stdout } = await run([...SNICKET, 'version']);

  const failedChecks = await check(/^\S+ \S+/.exec(stdout)?.[0] ?? 'snicket', edge.address);

  expect(failedChecks).toEqual([]);
});

test('Traefik answers unknown names with its own certificate', async () => {
  const edge = await startEdge(world, 'traefik', terminalProgress());
  const routes = tenants().map(({ name, plan }) =>
    route(edge, {
      host: plan.hosts.api,
      namespace: tenantNamespace(name),
      service: name,
      port: API_PORT,
    }),
  );
  await world.management.apply(...routes);
  const { stdout } = await run([join(partFolder(edgeParts.traefik), 'traefik'), 'version']);
  const version = /^Version:\s+(\S+)/m.exec(stdout)?.[1];

  const failedChecks = await check(`Traefik ${version}`, edge.address);

  // Traefik keeps the other direction open for 100 ms (terminationDelay), so this result depends on the API server.
  const others = failedChecks.filter((failure) => !failure.startsWith('half-close'));
  expect(others).toEqual(['no-name NameNotRejected', 'unknown-name NameNotRejected']);
});

describe.skipIf((await missingPeers()) !== undefined)('Debian packages', () => {
  test('HAProxy accepts a ClientHello in a single record only', async () => {
    const edge = await world.addHost('haproxy');
    writeFileSync(fileOf(edge, 'haproxy.cfg'), haproxyConfig(edge));
    const program = (await peerTree()).command('usr/sbin/haproxy');
    await edge.host.start('haproxy', [...program, '-db', '-f', fileOf(edge, 'haproxy.cfg')]);
    const { stdout } = await run([...program, '-v']);
    const version = /^HAProxy version (\S+?)[-+ ]/.exec(stdout)?.[1];

    const failedChecks = await check(`HAProxy ${version}`, edge.address);

    expect(failedChecks).toEqual(['small-records SmallRecordsRefused']);
  });

  test('nginx passes all checks with proxy_half_close', async () => {
    const edge = await world.addHost('nginx');
    const program = (await peerTree()).command('usr/sbin/nginx');
    const { stderr } = await run([...program, '-v']);
    const version = /nginx\/(\S+)/.exec(stderr)?.[1];
    const start = async (directives: string) => {
      const config = fileOf(edge, 'nginx.conf');
      writeFileSync(config, await nginxConfig(edge, directives));
      const args = ['-e', 'stderr', '-p', join(edge.host.folder, 'files'), '-c', config];
      return edge.host.start(`nginx-${directives.length}`, [...program, ...args]);
    };

    const defaultNginx = await start('');
    const byDefault = await check(`nginx ${version}`, edge.address);
    await defaultNginx.terminate();
    await start('proxy_half_close on;');
    const withHalfClose = await check(`nginx, proxy_half_close`, edge.address);

    // The answer and the FIN race, so nginx may truncate none, one or both of two connections.
    expect(byDefault.filter((failure) => !failure.startsWith('half-close'))).toEqual([]);
    expect(withHalfClose).toEqual([]);
  });
});

function tenants(): readonly Cluster[] {
  return [world.tenant('a'), world.tenant('b')];
}

function fileOf({ host }: NetworkHost, name: string): string {
  return join(host.folder, 'files', name);
}

/** Waits until the edge serves both tenants, runs the command, and returns the failed checks with their codes. */
async function check(title: string, address: string): Promise<readonly string[]> {
  const hosts = tenants().map(({ plan }) => plan.hosts.api);
  const args = ['doctor', 'edge', `${address}:${PORT}`, '--hosts', hosts.join(',')];
  const ca = ['--ca', fileOf(laptop, 'a.crt'), fileOf(laptop, 'b.crt')];
  const checks = await waitFor(
    `${title} serves both tenants`,
    async () => {
      const found = await report([...SNICKET, ...args, ...ca, '-o', 'json', '--idle', '5s']);
      return found?.[0]?.state === 'Pass' && found;
    },
    { deadlineMs: 120_000 },
  );
  columns.set(title, checks);
  for (const { state, check, message } of checks) {
    if (state !== 'Pass' || check.endsWith('-name')) console.log(`${title}: ${check}: ${message}`);
  }
  return checks.flatMap(({ state, check: name, code }) =>
    state === 'Pass' || state === 'Skip' ? [] : [`${name} ${code}`],
  );
}

/** Returns undefined while the edge does not listen. */
async function report(argv: readonly string[]): Promise<readonly CheckResult[] | undefined> {
  try {
    return (JSON.parse((await laptop.host.exec(argv)).stdout) as Report).checks;
  } catch (error) {
    if (!(error instanceof CommandError) || error.code === undefined) throw error;
    return error.code === 1 ? (JSON.parse(error.stdout) as Report).checks : undefined;
  }
}

/** Returns and prints why HAProxy and nginx are not available. */
async function missingPeers(): Promise<string | undefined> {
  try {
    await peerTree();
    return undefined;
  } catch (error) {
    if (!(error instanceof MissingProgramError) && !(error instanceof CommandError)) throw error;
    console.log(`skipped, HAProxy and nginx: ${error.message}`);
    return error.message;
  }
}

/** Routes by name with a map, as ingress controllers on HAProxy do. */
function haproxyConfig(edge: NetworkHost): string {
  const map = fileOf(edge, 'hosts.map');
  writeFileSync(
    map,
    tenants()
      .map(({ name, plan }) => `${plan.hosts.api} ${name}\n`)
      .join(''),
  );
  const backends = tenants().map(
    ({ name, plan }) => `backend ${name}\n  server api ${plan.address}:${API_PORT}\n`,
  );
  return `
global
  maxconn 1000
defaults
  mode tcp
  timeout connect 5s
  timeout client 600s
  timeout server 600s
  timeout tunnel 1h
frontend tenants
  bind ${edge.address}:${PORT}
  tcp-request inspect-delay 5s
  tcp-request content accept if { req.ssl_hello_type 1 }
  use_backend %[req.ssl_sni,lower,map(${map},none)]
backend none
  tcp-request content reject
${backends.join('')}`;
}

async function nginxConfig(edge: NetworkHost, directives: string): Promise<string> {
  const { root } = await peerTree();
  const routes = tenants().map(({ plan }) => `${plan.hosts.api} ${plan.address}:${API_PORT};`);
  return `load_module ${root}/usr/lib/nginx/modules/ngx_stream_module.so;
daemon off;
master_process off;
pid ${fileOf(edge, 'nginx.pid')};
error_log stderr warn;
events { worker_connections 1000; }
stream {
  proxy_timeout 1h;
  ${directives}
  map $ssl_preread_server_name $tenant {
    ${routes.join('\n    ')}
    default 127.0.0.1:1;
  }
  server {
    listen ${edge.address}:${PORT};
    ssl_preread on;
    proxy_pass $tenant;
  }
}
`;
}

/** Returns the results of all edges side by side as Markdown, with the codes of failed checks. */
function table(): string {
  const [first] = columns.values();
  const rows = (first ?? []).map(({ check }) => [
    `\`${check}\``,
    ...[...columns.values()].map((checks) => {
      const result = checks.find((candidate) => candidate.check === check);
      if (result === undefined) return '';
      return result.state === 'Pass' ? 'Pass' : `${result.state} \`${result.code}\``;
    }),
  ]);
  const head = ['check', ...columns.keys()];
  return [head, head.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n');
}
