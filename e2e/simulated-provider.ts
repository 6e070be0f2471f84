/** Simulates the controller of a provider: creates the objects that the provider creates for an object of the user. */
import type { KubeObject } from '../src/kube/object.ts';
import { valueAt } from '../src/kube/unstructured.ts';
import { providerFor } from '../src/providers/provider-for.ts';
import { PROVIDER_RESOURCES } from '../src/providers/provider-resources.ts';
import {
  createdFor,
  statusOf,
  type TenantFiles,
} from '../src/providers/testing/created-objects.ts';
import type { Cluster } from '../world/cluster/cluster.ts';
import { ProvidedControlPlane, resourceText } from './provided-control-plane.ts';

/** Recreates the object with its Service, Secrets and status. */
export async function createWithProvider(
  management: Cluster,
  object: KubeObject,
  files: TenantFiles,
): Promise<ProvidedControlPlane> {
  const created = createdFor(object, files);
  const written = [object, ...created].filter((created) => providerFor(created) !== undefined);
  for (const created of written) await remove(management, created);
  await management.apply(object, ...created);
  for (const created of written) {
    const patch = `--patch=${JSON.stringify({ status: statusOf(created) })}`;
    const args = [
      'patch',
      ...objectArguments(created),
      '--subresource=status',
      '--type=merge',
      patch,
    ];
    await management.kubectl(...args);
  }
  return new ProvidedControlPlane(management, object, written);
}

/** Returns the object as Cluster API creates it: owned by a Cluster, which is applied too. */
export async function ownedByCluster(
  management: Cluster,
  object: KubeObject,
  cluster: KubeObject,
): Promise<KubeObject> {
  const { apiVersion, kind, metadata } = cluster;
  const { name, namespace } = metadata;
  await management.apply(cluster);
  const live = await management.get<KubeObject>(resourceText(cluster), name, namespace);
  const { uid } = live?.metadata ?? {};
  if (uid === undefined) throw new Error(`there is no Cluster ${name}`);
  const ownerReferences = [{ apiVersion, kind, name, uid, controller: true }];
  return { ...object, metadata: { ...object.metadata, ownerReferences } };
}

/** Passes the ingress values of a ClusterDeployment to its K0smotronControlPlane, as its chart does. */
export async function renderChart(management: Cluster, deployment: KubeObject): Promise<void> {
  const { name, namespace = '' } = deployment.metadata;
  const live = await management.get<KubeObject>(resourceText(deployment), name, namespace);
  const values = valueAt(live, 'spec', 'config', 'ingress');
  const { enabled: _, ...ingress } = (values ?? {}) as { readonly enabled?: boolean };
  const patch = { spec: { ingress: values === undefined ? null : ingress } };
  const kind = resourceText(PROVIDER_RESOURCES.k0smotronControlPlane);
  const at = ['patch', kind, `${name}-cp`, `--namespace=${namespace}`];
  await management.kubectl(...at, '--type=merge', `--patch=${JSON.stringify(patch)}`);
}

/** Deletes an object if it exists. */
export async function remove(management: Cluster, object: KubeObject): Promise<void> {
  await management.kubectl('delete', ...objectArguments(object), '--ignore-not-found');
}

function objectArguments(object: KubeObject): readonly string[] {
  const { name, namespace = '' } = object.metadata;
  return [resourceText(object), name, `--namespace=${namespace}`];
}
