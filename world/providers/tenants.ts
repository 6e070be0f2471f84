import { imageArchive } from '../images/images.ts';
import type { ImageSpec } from '../images/oci.ts';
import { INOTIFY_PER_CONTROL_PLANE } from '../inotify-needs.ts';
import { program } from '../parts/parts.ts';
import { waitForAll } from '../wait.ts';
import type { World } from '../world.ts';
import type { Provider, TenantVersions } from './provider.ts';

/**
 * Prepares the management cluster for the pods of a provider's tenants. Their images contain the programs of the world,
 * even if the image names state other versions.
 */
export async function prepareTenantPods(world: World, provider: Provider): Promise<void> {
  const { management } = world;
  // For one tenant. Its control plane runs twice during a rollout.
  await world.reserveInotify(2 * INOTIFY_PER_CONTROL_PLANE);
  await management.apply(...pullPolicyObjects());
  const archives = tenantImages(provider.versions, program).map(imageArchive);
  await waitForAll(
    management.workers.map(async (worker) => {
      for (const archive of archives) await worker.importImage(archive);
    }),
  );
  // The controller reaches Services through the kube-proxy of a worker, as a pod does.
  const route = [management.plan.serviceCidr, 'via', management.worker().address];
  await provider.machine.host.exec(['ip', 'route', 'replace', ...route]);
}

/** Returns the images that a provider's Deployments use; `programPath` returns the path of a program on the machine. */
export function tenantImages(
  versions: TenantVersions,
  programPath: (name: string) => string,
): ImageSpec[] {
  const { kubernetes, konnectivity } = versions;
  return [
    ...['kube-apiserver', 'kube-controller-manager', 'kube-scheduler'].map((name) =>
      registryImage(`${name}:${kubernetes}`, `/bin/${name}`, programPath(name)),
    ),
    konnectivityImage('proxy-server', konnectivity, programPath),
  ];
}

/** Returns the image that a provider's DaemonSet in a tenant uses. */
export function agentImage(
  { konnectivity }: TenantVersions,
  programPath: (name: string) => string,
): ImageSpec {
  return konnectivityImage('proxy-agent', konnectivity, programPath);
}

function konnectivityImage(
  name: string,
  version: string,
  programPath: (name: string) => string,
): ImageSpec {
  return registryImage(`kas-network-proxy/${name}:${version}`, `/${name}`, programPath(name));
}

function registryImage(name: string, path: string, source: string): ImageSpec {
  return { name: `registry.k8s.io/${name}`, files: { [path]: source }, entrypoint: [path] };
}

/**
 * Returns a policy that makes pods use the images on their node. Pods of providers would otherwise pull from the
 * registry.
 */
function pullPolicyObjects(): object[] {
  const apiVersion = 'admissionregistration.k8s.io/v1';
  const metadata = { name: 'images-of-the-node' };
  return [
    {
      apiVersion,
      kind: 'MutatingAdmissionPolicy',
      metadata,
      spec: {
        matchConstraints: {
          resourceRules: [
            { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] },
          ],
        },
        reinvocationPolicy: 'Never',
        mutations: [
          {
            patchType: 'ApplyConfiguration',
            applyConfiguration: {
              expression: `Object{spec: Object.spec{containers: object.spec.containers.map(container,
                Object.spec.containers{name: container.name, imagePullPolicy: "IfNotPresent"})}}`,
            },
          },
        ],
      },
    },
    {
      apiVersion,
      kind: 'MutatingAdmissionPolicyBinding',
      metadata,
      spec: { policyName: metadata.name },
    },
  ];
}
