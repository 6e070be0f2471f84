/** The command `world/world`. */
import { Command, InvalidArgumentError } from 'commander';
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { importImage } from './cluster/worker.ts';
import { Dns, recordsFile } from './dns/records.ts';
import { Host } from './machine/host.ts';
import { Ledger, worldState, worldIds } from './machine/ledger.ts';
import { missingRequirements } from './requirements.ts';
import { removeDeadWorlds, removeWorld, sweepText } from './machine/sweep.ts';
import { partsFolder } from './parts/cache.ts';
import { baseParts, partsByImportance, type Part } from './parts/catalog.ts';
import { ensureParts, program as partProgram } from './parts/parts.ts';
import { formatElapsed, terminalProgress } from './parts/progress.ts';
import { liveStatus, statusText, welcomeText } from './screen.ts';
import type { ProxyMode, TenantSpec } from './spec.ts';
import { logsOf, worldStatus, worldStatuses } from './status.ts';
import { World } from './world.ts';

const cli = new Command('world/world')
  .enablePositionalOptions()
  .description('Run real Kubernetes on this machine: a management cluster, tenants and workers')
  .showHelpAfterError('(world/world --help lists the commands)');

cli
  .command('up')
  .description('Start a world; Ctrl-C removes it')
  .option(
    '--tenants <names>',
    'comma-separated names of the tenants; an empty list starts only the management cluster',
    'a,b',
  )
  .option('--workers <count>', 'number of workers of each tenant', wholeNumber, 1)
  .option(
    '--proxy-mode <mode>',
    'kube-proxy mode of the tenants: nftables or iptables',
    proxyMode,
    'nftables',
  )
  .option('--keep', 'keep the world running until `world/world down`', false)
  .addHelpText(
    'after',
    '\nExamples:\n  world/world up\n  world/world up --tenants blue,green --workers 2 --keep',
  )
  .action(up);

cli
  .command('status')
  .description('Show the worlds on this machine')
  .option('-o, --output <format>', 'output format: table or json', 'table')
  .action(status);

cli
  .command('down')
  .description('Remove kept and dead worlds')
  .argument('[id]', 'remove only this world, in any state')
  .action(down);

cli
  .command('kubectl')
  .description('Run kubectl as administrator of a cluster')
  .argument('<cluster>', 'management or the name of a tenant')
  .argument('[args...]')
  .option('--world <id>', 'ID of the world; required if there are several')
  .passThroughOptions()
  .allowUnknownOption()
  .addHelpText('after', '\nExample:\n  world/world kubectl a get pods -A')
  .action(kubectl);

cli
  .command('exec')
  .description('Run a command on a host, outside any pod')
  .argument('<host>', 'a worker such as a-1, a cluster name for its control plane, or network')
  .argument('<command...>', 'the command with its arguments')
  .option('--world <id>', 'ID of the world; required if there are several')
  .passThroughOptions()
  .addHelpText('after', '\nExample:\n  world/world exec a-1 ip address')
  .action(exec);

cli
  .command('logs')
  .description('Print the log of a program on a host')
  .argument('<host>', 'a worker such as a-1, a cluster name for its control plane, or network')
  .argument('[daemon]', 'kubelet, kube-apiserver, ...; default: list the names')
  .option('--world <id>', 'ID of the world; required if there are several')
  .action(logs);

cli
  .command('image')
  .description('Manage the images of a world')
  .command('load')
  .description('Load an OCI archive, such as dist/snicket-image.tar, on every worker')
  .argument('<file>', 'path of the archive')
  .option('--world <id>', 'ID of the world; required if there are several')
  .action(loadImage);

cli
  .command('dns')
  .description('Manage the DNS records of a world')
  .command('set')
  .description('Point a name to addresses, for every host and pod in the world')
  .argument('<name>', 'a name such as tenant-a-a.k8s.snicket.test')
  .argument('<address...>', 'its new addresses')
  .option('--world <id>', 'ID of the world; required if there are several')
  .action(setName);

cli
  .command('build')
  .description('Build the parts of a world into the cache')
  .option('--all', 'also build ingress controllers and providers', false)
  .action(build);

await cli
  .parseAsync()
  .catch((error: unknown) => fail(error instanceof Error ? error.message : String(error)));

async function up(options: {
  tenants: string;
  workers: number;
  proxyMode: ProxyMode;
  keep: boolean;
}): Promise<void> {
  await checkRequirements();
  const tenant: TenantSpec = { workers: options.workers, proxyMode: options.proxyMode };
  const names = options.tenants.split(',').filter(Boolean);
  const duplicate = names.find((name, index) => names.indexOf(name) !== index);
  if (duplicate) fail(`invalid --tenants ${options.tenants}: duplicate name '${duplicate}'`);
  const interruption = new AbortController();
  // A second Ctrl-C terminates the program. The next start then removes the world.
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.once(name, () => interruption.abort(new Error('interrupted; removed everything')));
  }
  const began = Date.now();
  const world = await World.start(
    { tenants: Object.fromEntries(names.map((name) => [name, tenant])) },
    { progress: terminalProgress(), signal: interruption.signal },
  );
  console.log(welcomeText(world, formatElapsed(Date.now() - began), options.keep));
  if (options.keep) {
    world.keep();
    process.exit(0);
  }
  await liveStatus(world, interruption.signal);
  const stopping = Date.now();
  await world.stop();
  console.log(`removed after ${((Date.now() - stopping) / 1000).toFixed(1)} s`);
  process.exit(0);
}

function status(options: { output: string }): void {
  const statuses = worldStatuses();
  if (options.output === 'json') console.log(JSON.stringify(statuses, undefined, 2));
  else if (options.output === 'table') console.log(statusText(statuses));
  else fail(`invalid --output ${options.output}: use table or json`);
}

async function down(id?: string): Promise<void> {
  if (id !== undefined) {
    await removeWorld(findWorld(id));
    console.log(`${id}: removed`);
    return;
  }
  const dead = await removeDeadWorlds();
  for (const result of dead) console.log(sweepText(result));
  const others = worldIds().flatMap((worldId) => Ledger.find(worldId) ?? []);
  for (const ledger of others) console.log(await removeUnlessRunning(ledger));
  if (dead.length + others.length === 0) console.log('no worlds found');
  if (dead.some(({ error }) => error)) process.exit(1);
}

/** Removes a world that is kept or dead, and returns a line that describes the result. */
async function removeUnlessRunning(ledger: Ledger): Promise<string> {
  switch (worldState(ledger.entries())) {
    case 'running':
      return `${ledger.id}: not removed, because its owner is running (world/world down ${ledger.id} removes it)`;
    case 'damaged':
      return `${ledger.id}: not removed, because its ledger is damaged (world/world down ${ledger.id} removes it)`;
    case 'kept':
    case 'dead':
      await removeWorld(ledger);
      return `${ledger.id}: removed`;
  }
}

async function kubectl(
  cluster: string,
  args: string[],
  options: { world?: string },
): Promise<void> {
  const { kubeconfigs } = worldStatus(findWorld(options.world));
  const path = Object.hasOwn(kubeconfigs, cluster) ? kubeconfigs[cluster] : undefined;
  if (!path)
    fail(
      `no cluster '${cluster}' (it is the first argument); clusters: ${Object.keys(kubeconfigs).join(', ')}`,
    );
  await runInTerminal([partProgram('kubectl'), `--kubeconfig=${path}`, ...args]);
}

async function exec(host: string, command: string[], options: { world?: string }): Promise<void> {
  const ledger = findWorld(options.world);
  assertHost(ledger, host);
  // As with kubectl exec, -- may precede the command.
  const entering = Host.open(ledger, host).entering(
    command[0] === '--' ? command.slice(1) : command,
  );
  await runInTerminal(entering.argv, entering.env);
}

async function logs(
  host: string,
  daemon: string | undefined,
  options: { world?: string },
): Promise<void> {
  const ledger = findWorld(options.world);
  assertHost(ledger, host);
  const files = logsOf(ledger, host);
  if (daemon === undefined) {
    console.log(Object.keys(files).toSorted().join('\n'));
    return;
  }
  const path = Object.hasOwn(files, daemon) ? files[daemon] : undefined;
  if (!path)
    fail(`no log of '${daemon}' on ${host}; logs: ${Object.keys(files).join(', ') || 'none'}`);
  await runInTerminal(['cat', path]);
}

async function loadImage(file: string, options: { world?: string }): Promise<void> {
  const ledger = findWorld(options.world);
  const archive = resolve(file);
  if (!existsSync(archive))
    fail(`file not found: ${file}; \`make image\` writes dist/snicket-image.tar`);
  const workers = worldStatus(ledger).hosts.filter(({ running }) => running.includes('containerd'));
  for (const { name } of workers) await importImage(Host.open(ledger, name), archive);
  console.log(`loaded ${file} on ${workers.map(({ name }) => name).join(', ')}`);
}

function setName(name: string, addresses: string[], options: { world?: string }): void {
  const ledger = findWorld(options.world);
  new Dns(recordsFile(ledger.folder)).set(name, ...addresses);
  console.log(`${name} points to ${addresses.join(', ')}`);
}

async function build({ all }: { all: boolean }): Promise<void> {
  const parts: readonly Part[] = all ? partsByImportance : Object.values(baseParts);
  await checkRequirements(parts);
  await ensureParts(parts, terminalProgress());
  console.log(`all parts are in ${partsFolder()}`);
}

async function checkRequirements(parts?: readonly Part[]): Promise<void> {
  const missing = await missingRequirements(parts);
  if (missing.length > 0) fail(`cannot run here:\n  ${missing.join('\n  ')}`);
}

function assertHost(ledger: Ledger, host: string): void {
  const hosts = worldStatus(ledger).hosts.map(({ name }) => name);
  if (!hosts.includes(host)) fail(`no host '${host}'; hosts: ${hosts.join(', ')}`);
}

/** Returns the world with this ID or, without an ID, the only world. */
function findWorld(id?: string): Ledger {
  const ids = worldIds();
  if (id === undefined && ids.length > 1)
    fail(`there are several worlds; pass --world ID: ${ids.join(', ')}`);
  const found = Ledger.find(id ?? ids[0] ?? '');
  if (!found)
    fail(
      id === undefined
        ? 'no worlds found; `make world` starts one'
        : `no world '${id}'; worlds: ${ids.join(', ') || 'none'}`,
    );
  return found;
}

/** Runs a command in this terminal and exits with its exit code. */
async function runInTerminal(
  argv: string[],
  env: Readonly<Record<string, string>> = {},
): Promise<never> {
  process.on('SIGINT', () => {}); // the command receives SIGINT too and decides how to handle it
  const child = Bun.spawn(argv, {
    stdio: ['inherit', 'inherit', 'inherit'],
    env: { ...process.env, ...env },
  });
  process.exit(await child.exited);
}

function wholeNumber(text: string): number {
  const value = Number(text);
  if (!/^\d+$/.test(text)) throw new InvalidArgumentError('Must be a whole number.');
  return value;
}

function proxyMode(text: string): ProxyMode {
  if (text !== 'nftables' && text !== 'iptables')
    throw new InvalidArgumentError('Must be nftables or iptables.');
  return text;
}

function fail(message: string): never {
  console.error(`world: ${message}`);
  process.exit(1);
}
