/**
 * For tests only: the objects that the controllers of providers create, with the same names and keys.
 */
import { numberAt } from '../../kube/unstructured.ts';
import type { KubeObject } from '../../kube/object.ts';
import { clusterNameOf } from '../k0s/control-plane.ts';
import { providerFor } from '../provider-for.ts';
import { PROVIDER_RESOURCES } from '../provider-resources.ts';

/** The content of a tenant's Secrets. */
export interface TenantFiles {
  /** The certificate of the CA. */
  readonly certificate: string;
  readonly key: string;
  /** Returns a kubeconfig of an administrator, with this server. */
  readonly kubeconfig: (server: string) => string;
}

/** Returns the Service and the Secrets of a tenant. @throws RangeError for an object of no provider */
export function createdFor(object: KubeObject, files: TenantFiles): readonly KubeObject[] {
  const { namespace = '' } = object.metadata;
  const name = clusterNameOf(object) ?? object.metadata.name;
  switch (providerFor(object)?.name) {
    case 'kamaji':
    case 'steward':
      return createdByKamaji({ name, namespace }, files);
    case 'k0smotron':
    case 'capi-k0smotron':
      return createdByK0smotron(object, { name, namespace }, files);
    case 'k0rdent': {
      const controlPlane = createdByChart(object);
      const cluster = { name, namespace };
      return [controlPlane, ...createdByK0smotron(controlPlane, cluster, files)];
    }
    case undefined:
      throw new RangeError(`${object.apiVersion} ${object.kind} is not a kind of any provider`);
  }
}

/** Returns the status of a running control plane. */
export function statusOf(object: KubeObject): object {
  switch (providerFor(object)?.name) {
    case 'kamaji':
    case 'steward': {
      const { name, namespace } = object.metadata;
      return {
        controlPlaneEndpoint: '10.96.100.215:6443',
        kubeconfig: { admin: { secretName: `${name}-admin-kubeconfig` } },
        certificates: { ca: { secretName: `${name}-ca` } },
        kubernetesResources: {
          service: { name, namespace, port: 6443 },
          version: { status: 'Ready', version: 'v1.35.7' },
        },
      };
    }
    case 'k0smotron':
      return { replicas: 1, readyReplicas: 1 };
    case 'capi-k0smotron':
      return { version: 'v1.34.1-k0s.0', readyReplicas: 1 };
    case 'k0rdent':
    case undefined:
      return {};
  }
}

interface Key {
  readonly name: string;
  readonly namespace: string;
}

function createdByKamaji({ name, namespace }: Key, files: TenantFiles): readonly KubeObject[] {
  const { certificate, key } = files;
  const kubeconfig = files.kubeconfig(`https://${name}.${namespace}.svc:6443`);
  return [
    service({ name, namespace }, { 'kube-apiserver': 6443, 'konnectivity-server': 8132 }),
    secret(
      { name: `${name}-ca`, namespace },
      { 'ca.crt': certificate, 'ca.key': key, 'tls.crt': certificate, 'tls.key': key },
    ),
    secret(
      { name: `${name}-admin-kubeconfig`, namespace },
      { 'admin.conf': kubeconfig, 'super-admin.svc': kubeconfig },
    ),
  ];
}

function createdByK0smotron(
  object: KubeObject,
  { name, namespace }: Key,
  { certificate, key, kubeconfig }: TenantFiles,
): readonly KubeObject[] {
  const port = (field: string, usual: number) =>
    numberAt(object, 'spec', 'service', field) ?? usual;
  const ports = { api: port('apiPort', 30443), konnectivity: port('konnectivityPort', 30132) };
  return [
    service({ name: `kmc-${name}`, namespace }, ports),
    secret({ name: `${name}-ca`, namespace }, { 'tls.crt': certificate, 'tls.key': key }),
    secret(
      { name: `${name}-kubeconfig`, namespace },
      // The server is the address that k0smotron publishes, not the Service.
      { value: kubeconfig(`https://${name}.example.com:${ports.api}`) },
    ),
  ];
}

/** Returns what the charts of k0rdent's templates render, without an ingress. */
function createdByChart({ metadata }: KubeObject): KubeObject {
  const { name, namespace } = metadata;
  const { apiVersion, kind } = PROVIDER_RESOURCES.k0smotronControlPlane;
  const object = {
    apiVersion,
    kind,
    metadata: {
      name: `${name}-cp`,
      namespace,
      labels: { 'cluster.x-k8s.io/cluster-name': name },
    },
    spec: {
      replicas: 1,
      version: 'v1.34.1-k0s.0',
      service: { type: 'ClusterIP', apiPort: 6443, konnectivityPort: 8132 },
      controlPlaneFlags: ['--enable-cloud-provider=true'],
      k0sConfig: { spec: { telemetry: { enabled: false } } },
    },
  };
  return object;
}

function service(metadata: Key, ports: Readonly<Record<string, number>>): KubeObject {
  const object = {
    apiVersion: 'v1',
    kind: 'Service',
    metadata,
    spec: {
      type: 'ClusterIP',
      ports: Object.entries(ports).map(([name, port]) => ({ name, port, protocol: 'TCP' })),
    },
  };
  return object;
}

function secret(metadata: Key, files: Readonly<Record<string, string>>): KubeObject {
  const data = Object.fromEntries(
    Object.entries(files).map(([name, text]) => [name, Buffer.from(text).toString('base64')]),
  );
  const object = { apiVersion: 'v1', kind: 'Secret', metadata, data };
  return object;
}
