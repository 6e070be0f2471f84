/** The command `world/world`. */
import { Command, InvalidArgumentError } from 'commander';
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { importImage } from './cluster/worker.ts';
import { Dns, recordsFile } from './dns/records.ts';
import { Host } from './machine/host.ts';
import { Ledger, standing, worldIds } from './machine/ledger.ts';
import { missingRequirements } from './requirements.ts';
import { removeDeadWorlds, removeWorld, sweptText } from './machine/sweep.ts';
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
  .description('Real Kubernetes on this machine: a management cluster, tenants, workers.')
  .showHelpAfterError('(world/world --help lists the commands)');

cli
  .command('up')
  .description('start a world; Ctrl-C ends it')
  .option(
    '--tenants <names>',
    'names of the tenants, with commas between; none: the management cluster alone',
    'a,b',
  )
  .option('--workers <count>', 'workers of each tenant', wholeNumber, 1)
  .option(
    '--proxy-mode <mode>',
    'kube-proxy mode of the tenants: nftables or iptables',
    proxyMode,
    'nftables',
  )
  .option('--keep', 'leave it running; `world/world down` ends it', false)
  .addHelpText(
    'after',
    '\nExamples:\n  world/world up\n  world/world up --tenants blue,green --workers 2 --keep',
  )
  .action(up);

cli
  .command('status')
  .description('the worlds of this machine')
  .option('-o, --output <format>', 'table or json', 'table')
  .action(status);

cli
  .command('down')
  .description('end kept worlds and remove all that they made, and what dead ones left')
  .argument('[id]', 'only this one, kept or not')
  .action(down);

cli
  .command('kubectl')
  .description('kubectl as administrator of a cluster')
  .argument('<cluster>', 'management, or a tenant')
  .argument('[args...]')
  .option('--world <id>', 'which world, if there are several')
  .passThroughOptions()
  .allowUnknownOption()
  .addHelpText('after', '\nExample:\n  world/world kubectl a get pods -A')
  .action(kubectl);

cli
  .command('exec')
  .description('run a command on a host, outside any pod')
  .argument('<host>', 'a worker such as a-1, a cluster name for its control plane, or network')
  .argument('<command...>', 'the command with its arguments')
  .option('--world <id>', 'which world, if there are several')
  .passThroughOptions()
  .addHelpText('after', '\nExample:\n  world/world exec a-1 ip address')
  .action(exec);

cli
  .command('logs')
  .description('what the programs of a host wrote')
  .argument('<host>', 'a worker such as a-1, a cluster name for its control plane, or network')
  .argument('[daemon]', 'kubelet, kube-apiserver, ...; without it: their names')
  .option('--world <id>', 'which world, if there are several')
  .action(logs);

cli
  .command('image')
  .description('images for the pods of a world')
  .command('load')
  .description('bring an OCI archive, such as dist/snicket-image.tar, to every worker')
  .argument('<file>', 'the archive')
  .option('--world <id>', 'which world, if there are several')
  .action(loadImage);

cli
  .command('dns')
  .description('the names of a world')
  .command('set')
  .description('make a name lead to addresses, for everybody in the world')
  .argument('<name>', 'such as tenant-a-a.k8s.snicket.test')
  .argument('<address...>', 'in place of those that it led to')
  .option('--world <id>', 'which world, if there are several')
  .action(setName);

cli
  .command('build')
  .description('build the parts of a world into the cache')
  .option('--all', 'also ingress controllers and providers', false)
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
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice) fail(`--tenants ${options.tenants}: '${twice}' is there twice`);
  const interruption = new AbortController();
  // A second Ctrl-C ends the program as usual; the next start then cleans up.
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.once(name, () =>
      interruption.abort(new Error('interrupted; what was made is removed')),
    );
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
  console.log(`ended and removed after ${((Date.now() - stopping) / 1000).toFixed(1)} s`);
  process.exit(0);
}

function status(options: { output: string }): void {
  const statuses = worldStatuses();
  if (options.output === 'json') console.log(JSON.stringify(statuses, undefined, 2));
  else if (options.output === 'table') console.log(statusText(statuses));
  else fail(`--output ${options.output}: use table or json`);
}

async function down(id?: string): Promise<void> {
  if (id !== undefined) {
    await removeWorld(findWorld(id));
    console.log(`${id}: ended and removed`);
    return;
  }
  const dead = await removeDeadWorlds();
  for (const one of dead) console.log(sweptText(one));
  const others = worldIds().flatMap((one) => Ledger.find(one) ?? []);
  for (const ledger of others) console.log(await endUnlessNeeded(ledger));
  if (dead.length + others.length === 0) console.log('no worlds here');
  if (dead.some(({ error }) => error)) process.exit(1);
}

/** Removes a world that is kept or dead, and returns a line that describes the result. */
async function endUnlessNeeded(ledger: Ledger): Promise<string> {
  switch (standing(ledger.entries())) {
    case 'running':
      return `${ledger.id}: left alone, its owner is running (world/world down ${ledger.id} ends it)`;
    case 'damaged':
      return `${ledger.id}: left alone, its ledger is damaged (world/world down ${ledger.id} ends it all the same)`;
    case 'kept':
    case 'dead':
      await removeWorld(ledger);
      return `${ledger.id}: ended and removed`;
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
      `the cluster comes first; there is no '${cluster}', these are: ${Object.keys(kubeconfigs).join(', ')}`,
    );
  await handOver([partProgram('kubectl'), `--kubeconfig=${path}`, ...args]);
}

async function exec(host: string, command: string[], options: { world?: string }): Promise<void> {
  const ledger = findWorld(options.world);
  assertHost(ledger, host);
  // As with kubectl exec, -- may precede the command.
  const entering = Host.open(ledger, host).entering(
    command[0] === '--' ? command.slice(1) : command,
  );
  await handOver(entering.argv, entering.env);
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
    fail(`no log of '${daemon}' on ${host}; these are: ${Object.keys(files).join(', ') || 'none'}`);
  await handOver(['cat', path]);
}

async function loadImage(file: string, options: { world?: string }): Promise<void> {
  const ledger = findWorld(options.world);
  const archive = resolve(file);
  if (!existsSync(archive))
    fail(`${file} is not there; \`make image\` writes dist/snicket-image.tar`);
  const workers = worldStatus(ledger).hosts.filter(({ running }) => running.includes('containerd'));
  for (const { name } of workers) await importImage(Host.open(ledger, name), archive);
  console.log(`${file} is on ${workers.map(({ name }) => name).join(', ')}`);
}

function setName(name: string, addresses: string[], options: { world?: string }): void {
  const ledger = findWorld(options.world);
  new Dns(recordsFile(ledger.folder)).set(name, ...addresses);
  console.log(`${name} leads to ${addresses.join(', ')}`);
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
  if (!hosts.includes(host)) fail(`no host '${host}'; these are: ${hosts.join(', ')}`);
}

/** Returns the world with this ID or, without an ID, the only world. */
function findWorld(id?: string): Ledger {
  const ids = worldIds();
  if (id === undefined && ids.length > 1)
    fail(`there are several worlds, say which with --world: ${ids.join(', ')}`);
  const found = Ledger.find(id ?? ids[0] ?? '');
  if (!found)
    fail(
      id === undefined
        ? 'no worlds here; `make world` starts one'
        : `no world '${id}'; these are: ${ids.join(', ') || 'none'}`,
    );
  return found;
}

/** Runs a command in this terminal and exits with its exit code. */
async function handOver(
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
  if (!/^\d+$/.test(text)) throw new InvalidArgumentError('Give a whole number.');
  return value;
}

function proxyMode(text: string): ProxyMode {
  if (text !== 'nftables' && text !== 'iptables')
    throw new InvalidArgumentError('Use nftables or iptables.');
  return text;
}

function fail(message: string): never {
  console.error(`world: ${message}`);
  process.exit(1);
}
