/**
 * For tests only: objects in the shape that providers' controllers leave them.
 */
import type { KubeObject, ObjectMeta } from '../../kube/object.ts';
import type { ApiObject } from '../../kube/store/object-store.ts';
import { RESOURCES } from '../../kube/resource.ts';
import { withField } from '../preparation/field-path.ts';
import type { PreparationOwner } from '../preparation/plan-preparation.ts';
import type { FieldPath } from '../preparation/preparation.ts';
import { PROVIDER_RESOURCES } from '../provider-resources.ts';

/** Where all of them are. */
export const NAMESPACE = 'tenants';

/** An object with other fields: a path with dots, and what is there. Undefined takes it away. */
export function changed<T extends object>(object: T, fields: Readonly<Record<string, unknown>>): T {
  return Object.entries(fields).reduce(
    (next, [path, value]) => withField(next, path.split('.') as FieldPath, value),
    object,
  );
}

function metadata(name: string, rest: Partial<ObjectMeta> = {}): ObjectMeta {
  return { name, namespace: NAMESPACE, uid: `uid-of-${name}`, resourceVersion: '7', ...rest };
}

/** A TenantControlPlane as a user writes it, before its controller has seen it. */
export function freshTenant(of: 'kamaji' | 'steward', name: string): ApiObject {
  const { apiVersion, kind } = PROVIDER_RESOURCES[of];
  return {
    apiVersion,
    kind,
    metadata: metadata(name),
    spec: {
      controlPlane: {
        deployment: { replicas: 2 },
        service: { serviceType: 'ClusterIP' },
      },
      kubernetes: { version: 'v1.35.7', kubelet: { cgroupfs: 'systemd' } },
      networkProfile: { port: 6443, serviceCidr: '10.96.0.0/16', clusterDomain: 'cluster.local' },
      addons: {
        coreDNS: {},
        kubeProxy: {},
        konnectivity: {
          server: { port: 8132 },
          agent: { mode: 'DaemonSet', tolerations: [{ operator: 'Exists' }] },
        },
      },
    },
  };
}

/** The same when it runs. */
export function readyTenant(of: 'kamaji' | 'steward', name: string): ApiObject {
  return {
    ...freshTenant(of, name),
    status: {
      addons: { konnectivity: { enabled: true, service: { name, port: 8132 } } },
      certificates: { ca: { secretName: `${name}-ca`, checksum: '09da800e' } },
      controlPlaneEndpoint: '10.96.100.215:6443',
      kubeconfig: { admin: { secretName: `${name}-admin-kubeconfig` } },
      kubernetesResources: {
        deployment: { name, readyReplicas: 2, replicas: 2 },
        service: { name, namespace: NAMESPACE, port: 6443 },
        version: { status: 'Ready', version: 'v1.35.7' },
      },
    },
  };
}

/** A Cluster of k0smotron that runs. */
export function k0smotronCluster(name: string): ApiObject {
  const { apiVersion, kind } = PROVIDER_RESOURCES.k0smotron;
  return {
    apiVersion,
    kind,
    metadata: metadata(name),
    spec: {
      replicas: 1,
      version: 'v1.34.1-k0s.0',
      service: { type: 'ClusterIP', apiPort: 30443, konnectivityPort: 30132 },
      certificateRefs: [
        { name: `${name}-ca`, type: 'ca' },
        { name: `${name}-sa`, type: 'sa' },
      ],
      k0sConfig: { spec: { network: { serviceCIDR: '10.128.0.0/16' } } },
    },
    status: { replicas: 1, readyReplicas: 1 },
  };
}

/** A K0smotronControlPlane of the Cluster of this name. */
export function k0smotronControlPlane(cluster: string): ApiObject {
  const { apiVersion, kind } = PROVIDER_RESOURCES.k0smotronControlPlane;
  const { spec } = k0smotronCluster(cluster);
  const owner = { ...PROVIDER_RESOURCES.capiCluster, name: cluster, uid: `uid-of-${cluster}` };
  const ownerReferences = [
    { apiVersion: owner.apiVersion, kind: owner.kind, name: owner.name, uid: owner.uid },
  ];
  return {
    apiVersion,
    kind,
    metadata: metadata(`${cluster}-cp`, { ownerReferences }),
    spec: changed(spec as object, { k0sConfig: undefined }),
    status: { version: 'v1.34.1-k0s.0', readyReplicas: 0 },
  };
}

/** A Cluster of Cluster API. */
export function capiCluster(name: string): ApiObject {
  const { apiVersion, kind } = PROVIDER_RESOURCES.capiCluster;
  const clusterNetwork = {
    services: { cidrBlocks: ['10.140.0.0/16', 'fd00:1::/108'] },
    serviceDomain: 'amber.local',
  };
  return { apiVersion, kind, metadata: metadata(name), spec: { clusterNetwork } };
}

/** A ClusterDeployment of k0rdent with a template. */
export function clusterDeployment(name: string, template: string): ApiObject {
  const { apiVersion, kind } = PROVIDER_RESOURCES.clusterDeployment;
  const config = { workersNumber: 2, flavor: 'm1.medium' };
  return {
    apiVersion,
    kind,
    metadata: metadata(name),
    spec: { template, credential: 'c', config },
  };
}

/** A Service with named ports. */
export function serviceOf(name: string, ports: Readonly<Record<string, number>>): ApiObject {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: metadata(name),
    spec: {
      type: 'ClusterIP',
      clusterIP: '10.96.100.215',
      clusterIPs: ['10.96.100.215'],
      ports: Object.entries(ports).map(([portName, port]) => ({
        name: portName,
        port,
        protocol: 'TCP',
        targetPort: port,
      })),
    },
  };
}

/** A Secret with these files. */
export function secretOf(name: string, files: Readonly<Record<string, string>>): ApiObject {
  const data = Object.fromEntries(
    Object.entries(files).map(([file, text]) => [file, Buffer.from(text).toString('base64')]),
  );
  return { apiVersion: 'v1', kind: 'Secret', metadata: metadata(name), data };
}

/** A kubeconfig with this server, as client-go writes it. */
export function kubeconfigFor(server: string): string {
  return `apiVersion: v1
clusters:
- cluster:
    certificate-authority-data: Y2E=
    server: ${server}
  name: blue
contexts:
- context:
    cluster: blue
    user: admin
  name: admin@blue
current-context: admin@blue
kind: Config
users:
- name: admin
  user:
    token: secret
`;
}

/** The Deployment of a TenantControlPlane, whose API server has these arguments. */
export function deploymentOf(name: string, args: readonly string[]): KubeObject {
  const object = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: metadata(name),
    spec: { template: { spec: { containers: [{ name: 'kube-apiserver', args }] } } },
  };
  return object;
}

/** The owner of a preparation: an Exposure of this name without a record, and no other. */
export function ownerFor(name: string): PreparationOwner {
  const { apiVersion, kind } = RESOURCES.exposure;
  const exposure = { apiVersion, kind, metadata: { name, namespace: NAMESPACE } };
  return { exposure, otherOwner: () => undefined };
}
