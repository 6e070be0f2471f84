/**
 * `make demo-real`: `make demo` with real Kubernetes. It starts a management cluster and two tenants with a worker
 * each, built from source, and installs Snicket as users do. In each tenant, a pod lists the namespaces at 10.96.0.1.
 * Needs root and Go: docs/world.md.
 */
import {
  untilReachable,
  exposureOf,
  installSnicket,
  pointToEdge,
  snicketEdge,
  SYSTEM_NAMESPACE,
} from '../e2e/installed-snicket.ts';
import {
  homeNamespace,
  createHomeNamespace,
  namespacesFirstSeenBy,
  namespacesSeenBy,
} from '../e2e/namespaces.ts';
import type { Cluster } from '../world/cluster/cluster.ts';
import type { Pod } from '../world/cluster/pod.ts';
import { CommandError } from '../world/machine/command.ts';
import { terminalProgress } from '../world/parts/progress.ts';
import { missingRequirements } from '../world/requirements.ts';
import { World } from '../world/world.ts';
import type { Command } from './page.ts';
import { colored, failuresOf, rowsOf, type Finding } from './finding.ts';
import { play, TRY_IT, TRY_IT_ON_A_TERMINAL } from './play.ts';

await play(async ({ page, signal, stack, staysUp }) => {
  const missing = await missingRequirements();
  if (missing.length > 0) {
    throw new Error(`missing requirements (make demo needs only npm):\n  ${missing.join('\n  ')}`);
  }
  const progress = terminalProgress();
  const world = await World.start({ tenants: { a: {}, b: {} } }, { progress, signal });
  let stopped: Promise<void> | undefined;
  const stop = async () => (stopped ??= world.stop());
  stack.defer(stop);
  // Stopping the world makes every wait of the demo fail, so the demo ends.
  signal.addEventListener('abort', () => void stop());

  const tenants = [...world.tenants.values()];
  const pods = await Promise.all(tenants.map(startPod));
  page.heading('The problem');
  page.text(`Two tenants with hosted control planes. Their pods connect to 10.96.0.1, where
nothing answers: a shared address could not select their tenant.`);
  const problem = await Promise.all(pods.map(async (pod) => podFinding(pod, 'none')));
  page.table(['POD OF', 'ADDRESS', 'RESULT'], rowsOf(problem));

  page.heading('The solution');
  page.text(`kubectl apply -k deploy, one Edge, and an Exposure for each tenant. The operator
installs a proxy on every worker, which sends the name of the tenant.`);
  signal.throwIfAborted(); // the next step builds an image, which does not depend on the world
  await installSnicket(world, progress);
  await world.management.apply(snicketEdge(), ...exposures(world));
  for (const tenant of tenants) pointToEdge(world, tenant);
  progress.update('snicket', 'waiting for the Exposures to be Ready');
  for (const tenant of tenants) await untilReachable(world, tenant);
  progress.done('snicket', 'the Exposures are Ready');
  for (const { pod } of pods) await untilPodReachesApi(pod);
  const solution = await Promise.all(pods.map(async (pod) => podFinding(pod, 'tenant')));
  page.table(['POD OF', 'ADDRESS', 'RESULT'], rowsOf(solution));

  page.heading('Checks: snicket doctor');
  page.text(`\n${await snicketInOperator(world, 'doctor', '-A')}`);

  if (staysUp) {
    page.heading('Kubeconfigs for kubectl on this machine');
    page.table(
      ['CLUSTER', 'FILE'],
      [world.management, ...tenants].map(({ name, controlPlane }) => [
        name,
        controlPlane.machineKubeconfig,
      ]),
    );
    page.heading(TRY_IT);
    for (const command of commands(world)) page.command(command);
  } else {
    page.text(TRY_IT_ON_A_TERMINAL);
  }

  return {
    failures: failuresOf([...problem, ...solution]),
    broken: new Promise<string>(() => {}), // never resolves: if the world fails, the commands of the user show it
  };
});

interface TenantPod {
  readonly tenant: Cluster;
  readonly pod: Pod;
}

async function startPod(tenant: Cluster): Promise<TenantPod> {
  await createHomeNamespace(tenant);
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
async function untilPodReachesApi(pod: Pod): Promise<void> {
  await namespacesFirstSeenBy(pod, `pod ${pod.name} reaches its API`);
}

/** Returns which tenant's namespaces a pod lists with its default credentials, at its default API address. */
async function podFinding(
  { tenant, pod }: TenantPod,
  expected: 'none' | 'tenant',
): Promise<Finding> {
  const seen = await namespacesSeenBy(pod).catch((error: unknown) => {
    if (error instanceof CommandError) return error;
    throw error;
  });
  const isReached = !(seen instanceof CommandError) && seen.includes(homeNamespace(tenant));
  const otherResult = seen instanceof CommandError ? refusalIn(seen.stderr) : seen.join(', ');
  const result = isReached ? `tenant ${tenant.name}` : otherResult;
  return {
    cells: [tenant.name, '10.96.0.1', colored(result, isReached)],
    isExpected: isReached === (expected === 'tenant'),
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
async function snicketInOperator(world: World, ...args: readonly string[]): Promise<string> {
  const operator = [`--namespace=${SYSTEM_NAMESPACE}`, 'exec', 'deploy/snicket-operator', '--'];
  return world.management.kubectl(...operator, 'snicket', ...args);
}

function commands(world: World): readonly Command[] {
  // Always with --world, because the user may have other worlds.
  const kubectl = (cluster: string) => `world/world kubectl --world ${world.id} ${cluster}`;
  const inOperator = `${kubectl('management')} --namespace ${SYSTEM_NAMESPACE} exec deploy/snicket-operator`;
  return [
    {
      line: `${kubectl('a')} exec hello -- kubectl get namespaces`,
      description: 'namespaces of tenant a, from a pod at 10.96.0.1',
    },
    {
      line: `${kubectl('b')} exec hello -- kubectl get namespaces`,
      description: 'the same address in tenant b, and its namespaces',
    },
    {
      line: `${kubectl('a')} get pods --all-namespaces --output wide`,
      description: "the proxy on tenant a's worker",
    },
    {
      line: `${kubectl('a')} get endpointslice kubernetes --output yaml`,
      description: 'the endpoints of 10.96.0.1',
    },
    {
      line: `${kubectl('management')} get exposures --all-namespaces`,
      description: 'status of both Exposures',
    },
    {
      line: `${inOperator} -- snicket doctor -A`,
      description: 'checks of every hop on the paths to both tenants',
    },
    {
      line: `${inOperator} -- snicket diff -A`,
      description: 'differences between desired and live objects',
    },
  ];
}
