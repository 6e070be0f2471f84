import { join } from 'node:path';
import type { ClusterAccess, ClusterApi } from '../cluster/cluster-api.ts';
import type { Cluster } from '../cluster/cluster.ts';
import { kubeconfigContent } from '../cluster/kubeconfig.ts';
import { Authority } from '../cluster/pki.ts';
import { EDGE_PORT } from '../edges/recipe.ts';
import { imageArchive } from '../images/images.ts';
import { program } from '../parts/parts.ts';
import { startRelay } from '../relay/start.ts';
import type { Hosts, NodesSpec } from '../spec.ts';
import type { World } from '../world.ts';
import type { Provider } from './provider.ts';
import { agentImage } from './tenants.ts';

/** Workers for the tenant of a provider. */
export interface TenantWorkers extends Pick<NodesSpec, 'workers' | 'proxyMode' | 'kubeletFlags'> {
  /** Name and namespace of the TenantControlPlane. */
  readonly tenant: string;
  readonly namespace: string;
  /** Host names of the control plane at its edge, which the workers dial at port 443. */
  readonly hosts: Hosts;
  /**
   * Name of the cluster in the world, and of the nodes: NAME-1, NAME-2, ... Workers that join after others were removed
   * need another name. Default PROVIDER-TENANT.
   */
  readonly name?: string;
}

/**
 * Adds workers to a tenant whose control plane already runs (see `letTenantsRun`), and returns when they are Ready.
 * Reads certificates and kubeconfig from the Secrets of the tenant. The host of the API server must already resolve to
 * an edge. Logs and exec work once the provider's agents have found their server: {@link Cluster.untilNodesReachable}.
 */
export async function joinTenant(
  world: World,
  provider: Provider,
  workers: TenantWorkers,
): Promise<Cluster<ClusterApi>> {
  const { tenant, namespace, hosts } = workers;
  const name = workers.name ?? `${provider.name}-${tenant}`;
  const { networkProfile } = await specOf<TenantSpec>(world, provider.resource, workers);
  const [first, second] = networkProfile.podCidr.split('.');
  await world.nameService(namespace, tenant);
  return world.join(
    {
      ...workers,
      name,
      hosts,
      server: `https://${hosts.api}:${EDGE_PORT}`,
      serviceCidr: networkProfile.serviceCidr,
      podPrefix: `${first}.${second}`,
    },
    await tenantAccess(world, provider, workers, name),
    [imageArchive(agentImage(provider.versions, program))],
  );
}

/**
 * Returns the administrator's access to the tenant, through the provider's machine, because no other machine reaches
 * the Service.
 */
async function tenantAccess(
  world: World,
  { machine }: Provider,
  workers: TenantWorkers,
  name: string,
): Promise<ClusterAccess> {
  const { host } = machine;
  const { tenant } = workers;
  const ca = await secret(world, workers, `${tenant}-ca`);
  const kubeconfigs = await secret(world, workers, `${tenant}-admin-kubeconfig`);
  const { server, credential } = kubeconfigContent(kubeconfigs('super-admin.svc'));
  const { clusterIP } = await specOf<{ clusterIP: string }>(world, 'service', workers);
  const target = `${clusterIP}:${new URL(server).port}`;
  const machineServer = (await startRelay(host, `relay-${name}`, { [name]: target })).get(name);
  if (machineServer === undefined) throw new Error(`the relay has no port for ${name}`);
  return {
    authority: await Authority.open({ certificate: ca('ca.crt'), key: ca('ca.key') }),
    admin: credential,
    host,
    server,
    machineServer,
    kubeconfig: join(host.folder, 'files', `${name}.kubeconfig`),
    machineKubeconfig: join(host.folder, `${name}.kubeconfig`),
  };
}

/** Returns a function that reads the keys of a Secret that the provider created for a tenant. */
async function secret(
  world: World,
  { namespace }: TenantWorkers,
  name: string,
): Promise<(key: string) => string> {
  const found = await world.management.get<{ data: Record<string, string> }>(
    ...(['secret', name, namespace] as const),
  );
  return (key) => {
    const value = found?.data[key];
    if (value === undefined)
      throw new Error(`no key ${key} in Secret ${namespace}/${name}; is the tenant Ready?`);
    return Buffer.from(value, 'base64').toString();
  };
}

async function specOf<T>(
  world: World,
  resource: string,
  { tenant, namespace }: TenantWorkers,
): Promise<T> {
  const found = await world.management.get<{ spec: T }>(resource, tenant, namespace);
  if (!found) throw new Error(`no ${resource} ${namespace}/${tenant} in the management cluster`);
  return found.spec;
}

interface TenantSpec {
  readonly networkProfile: { readonly serviceCidr: string; readonly podCidr: string };
}
