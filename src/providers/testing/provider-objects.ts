/**
 * For tests only: objects as the controllers of providers leave them.
 */
import type { KubeObject, ObjectMeta } from '../../kube/object.ts';
import type { ApiObject } from '../../kube/store/object-store.ts';
import { RESOURCES } from '../../kube/resource.ts';
import { withField } from '../preparation/field-path.ts';
import type { PreparationOwner } from '../preparation/plan-preparation.ts';
import type { FieldPath } from '../preparation/preparation.ts';
import { PROVIDER_RESOURCES } from '../provider-resources.ts';

/** The namespace of all objects. */
export const NAMESPACE = 'tenants';

/** Returns an object with other fields, by dotted path. undefined removes a field. */
export function changed<T extends object>(object: T, fields: Readonly<Record<string, unknown>>): T {
  return Object.entries(fields).reduce(
    (next, [path, value]) => withField(next, path.split('.') as FieldPath, value),
    object,
  );
}

function metadata(name: string, rest: Partial<ObjectMeta> = {}): ObjectMeta {
  return { name, namespace: NAMESPACE, uid: `uid-of-${name}`, resourceVersion: '7', ...rest };
}

/** Returns a TenantControlPlane as a user writes it, before its controller has observed it. */
export function newTenantControlPlane(provider: 'kamaji' | 'steward', name: string): ApiObject {
  const { apiVersion, kind } = PROVIDER_RESOURCES[provider];
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

/** Returns a running TenantControlPlane. */
export function readyTenantControlPlane(provider: 'kamaji' | 'steward', name: string): ApiObject {
  return {
    ...newTenantControlPlane(provider, name),
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

/** Returns a running k0smotron Cluster. */
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

/** Returns the K0smotronControlPlane of a Cluster. */
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

/** Returns a Cluster API Cluster. */
export function capiCluster(name: string): ApiObject {
  const { apiVersion, kind } = PROVIDER_RESOURCES.capiCluster;
  const clusterNetwork = {
    services: { cidrBlocks: ['10.140.0.0/16', 'fd00:1::/108'] },
    serviceDomain: 'amber.local',
  };
  return { apiVersion, kind, metadata: metadata(name), spec: { clusterNetwork } };
}

/** Returns a ClusterDeployment with a template. */
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

/** Returns a Service with named ports. */
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

/** Returns a Secret with these files. */
export function secretOf(name: string, files: Readonly<Record<string, string>>): ApiObject {
  const data = Object.fromEntries(
    Object.entries(files).map(([file, text]) => [file, Buffer.from(text).toString('base64')]),
  );
  return { apiVersion: 'v1', kind: 'Secret', metadata: metadata(name), data };
}

/** Returns a kubeconfig with this server, in the format of client-go. */
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

/** Returns the Deployment of a TenantControlPlane, whose API server has these arguments. */
export function deploymentOf(name: string, args: readonly string[]): KubeObject {
  const object = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: metadata(name),
    spec: { template: { spec: { containers: [{ name: 'kube-apiserver', args }] } } },
  };
  return object;
}

/** Returns the owner of a preparation: an Exposure without a record, and no other Exposure. */
export function ownerFor(name: string): PreparationOwner {
  const { apiVersion, kind } = RESOURCES.exposure;
  const exposure = { apiVersion, kind, metadata: { name, namespace: NAMESPACE } };
  return { exposure, otherOwner: () => undefined };
}
