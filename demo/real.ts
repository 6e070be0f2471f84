/**
 * `make demo-real`: the story of `make demo` with real Kubernetes. It has a management cluster and two tenants with a
 * worker each, built from source, and Snicket installed as users install it. In each tenant, a pod lists its namespaces
 * at 10.96.0.1. Needs root and Go: docs/world.md.
 */
import {
  exposed,
  exposureOf,
  installSnicket,
  leadToEdge,
  snicketEdge,
  SYSTEM,
} from '../e2e/installed-snicket.ts';
import { homeOf, makeHome, namespacesFirstSeenBy, namespacesSeenBy } from '../e2e/whose-api.ts';
import type { Cluster } from '../world/cluster/cluster.ts';
import type { Pod } from '../world/cluster/pod.ts';
import { CommandError } from '../world/machine/command.ts';
import { terminalProgress } from '../world/parts/progress.ts';
import { missingRequirements } from '../world/requirements.ts';
import { World } from '../world/world.ts';
import type { Command } from './page.ts';
import { colored, faultsOf, rowsOf, type Finding } from './finding.ts';
import { play } from './play.ts';

await play(async ({ page, signal, stack, staysUp }) => {
  const missing = await missingRequirements();
  if (missing.length > 0) {
    throw new Error(`cannot run here; make demo needs npm only:\n  ${missing.join('\n  ')}`);
  }
  const progress = terminalProgress();
  const world = await World.start({ tenants: { a: {}, b: {} } }, { progress, signal });
  let stopped: Promise<void> | undefined;
  const stop = async () => (stopped ??= world.stop());
  stack.defer(stop);
  // Stopping the world makes every wait of the story fail, so that it ends.
  signal.addEventListener('abort', () => void stop());

  const tenants = [...world.tenants.values()];
  const pods = await Promise.all(tenants.map(startPod));
  page.heading('The problem');
  page.text(`Two tenants, whose control planes are elsewhere. Their pods dial 10.96.0.1, and
there is nothing: a shared address could not tell whose they are.`);
  const problem = await Promise.all(pods.map(async (one) => podFinding(one, 'nobody')));
  page.table(['POD OF', 'DIALS', 'GETS'], rowsOf(problem));

  page.heading('The solution');
  page.text(`kubectl apply -k deploy, an Edge for all, and an Exposure for each tenant: the
operator brings a proxy to every worker, which carries the tenant's name.`);
  signal.throwIfAborted(); // the next step builds an image, which would not notice that the world is gone
  await installSnicket(world, progress);
  await world.management.apply(snicketEdge(), ...exposures(world));
  for (const tenant of tenants) leadToEdge(world, tenant);
  progress.update('snicket', 'waiting for the Exposures to be Ready');
  for (const tenant of tenants) await exposed(world, tenant);
  progress.done('snicket', 'the Exposures are Ready');
  for (const { pod } of pods) await reachesItsApi(pod);
  const solution = await Promise.all(pods.map(async (one) => podFinding(one, 'tenant')));
  page.table(['POD OF', 'DIALS', 'GETS'], rowsOf(solution));

  page.heading('What the doctor says');
  page.text(`\n${await snicketInOperator(world, 'doctor', '-A')}`);

  page.heading('Kubeconfigs, for any kubectl on this machine');
  page.table(
    ['CLUSTER', 'FILE'],
    [world.management, ...tenants].map(({ name, controlPlane }) => [
      name,
      controlPlane.machineKubeconfig,
    ]),
  );
  page.heading(staysUp ? 'Try it, in another terminal' : 'In a terminal the demo stays up, to try');
  for (const command of commands(world)) page.command(command);

  return {
    faults: faultsOf([...problem, ...solution]),
    broken: new Promise<string>(() => {}), // if the world breaks, the commands that users try show it
  };
});

interface TenantPod {
  readonly tenant: Cluster;
  readonly pod: Pod;
}

async function startPod(tenant: Cluster): Promise<TenantPod> {
  await makeHome(tenant);
  return { tenant, pod: await tenant.runPod({ name: 'hello' }) };
}

/** Returns an Exposure in each mode. */
function exposures(world: World): readonly object[] {
  return [
    exposureOf(world.tenant('a'), { mode: 'Passthrough' }),
    exposureOf(world.tenant('b'), { mode: 'Terminate' }),
  ];
}

/** Waits until the pod reaches its API server, because kube-proxy may not have observed the endpoints yet. */
async function reachesItsApi(pod: Pod): Promise<void> {
  await namespacesFirstSeenBy(pod, `pod ${pod.name} reaches its API`);
}

/** Returns which tenant's namespaces a pod lists with its default credentials, at its default API address. */
async function podFinding(
  { tenant, pod }: TenantPod,
  claimed: 'nobody' | 'tenant',
): Promise<Finding> {
  const seen = await namespacesSeenBy(pod).catch((error: unknown) => {
    if (error instanceof CommandError) return error;
    throw error;
  });
  const isReached = !(seen instanceof CommandError) && seen.includes(homeOf(tenant));
  const others = seen instanceof CommandError ? refusalIn(seen.stderr) : seen.join(', ');
  const gets = isReached ? `tenant ${tenant.name}` : others;
  return {
    cells: [tenant.name, '10.96.0.1', colored(gets, isReached)],
    isAsClaimed: isReached === (claimed === 'tenant'),
  };
}

/** Returns the error of kubectl in the pod, without its log and without the message of the kubectl outside. */
function refusalIn(stderr: string): string {
  const lines = stderr.split('\n');
  return lines.find((line) => line !== '' && !/^E\d{4} |^command terminated/.test(line)) ?? stderr;
}

/**
 * Runs snicket in the operator's pod, because the kubeconfigs of tenants have addresses inside the world.
 *
 * @throws CommandError if it finds a problem, with its output
 */
async function snicketInOperator(world: World, ...words: readonly string[]): Promise<string> {
  const operator = [`--namespace=${SYSTEM}`, 'exec', 'deploy/snicket-operator', '--'];
  return world.management.kubectl(...operator, 'snicket', ...words);
}

function commands(world: World): readonly Command[] {
  // Always with --world, because the user may have other worlds.
  const kubectl = (cluster: string) => `world/world kubectl --world ${world.id} ${cluster}`;
  const inOperator = `${kubectl('management')} --namespace ${SYSTEM} exec deploy/snicket-operator`;
  return [
    {
      line: `${kubectl('a')} exec hello -- kubectl get namespaces`,
      shows: 'a pod of tenant a, at 10.96.0.1',
    },
    {
      line: `${kubectl('b')} exec hello -- kubectl auth whoami`,
      shows: 'a pod of tenant b, as its API server knows it',
    },
    {
      line: `${kubectl('a')} get pods --all-namespaces --output wide`,
      shows: "the proxy on tenant a's worker",
    },
    {
      line: `${kubectl('a')} get endpointslice kubernetes --output yaml`,
      shows: 'where 10.96.0.1 leads to',
    },
    {
      line: `${kubectl('management')} get exposures --all-namespaces`,
      shows: 'what the operator says of both',
    },
    {
      line: `${inOperator} -- snicket doctor -A`,
      shows: 'every hop of the way, tried once more',
    },
    {
      line: `${inOperator} -- snicket diff -A`,
      shows: 'whether all is as it was written',
    },
  ];
}
