/**
 * For tests only: a lab whose management cluster has the kinds of all providers, and control planes as they create them.
 */
import type { KubeObject } from '../../kube/object.ts';
import { withVersion, type Resource } from '../../kube/resource.ts';
import { PROVIDER_RESOURCES } from '../../providers/provider-resources.ts';
import {
  changed,
  k0smotronCluster,
  k0smotronControlPlane,
  readyTenantControlPlane,
} from '../../providers/testing/provider-objects.ts';
import type { ApiObject } from '../../kube/store/object-store.ts';
import type { LabTenant } from './lab-tenant.ts';
import { objectOf, secretOf } from './objects.ts';
import { NON_EDGE_KINDS, OperatorLab, type LabOptions } from './operator-lab.ts';
import { TENANTS } from './namespaces.ts';

/** The annotation that requests Edge `shared`. */
export const REQUESTS_EDGE = { 'snicket.dev/edge': 'shared' };

/** A lab that also serves the kinds of providers. */
export async function startProvidedLab(options: LabOptions = {}): Promise<OperatorLab> {
  return OperatorLab.start({
    resources: [...NON_EDGE_KINDS, ...Object.values(PROVIDER_RESOURCES)],
    ...options,
  });
}

/** Applies a TenantControlPlane of Kamaji as a user, and adds the objects that Kamaji creates for it. */
export async function addKamaji(
  lab: OperatorLab,
  name: string,
  fields: Readonly<Record<string, unknown>> = {},
): Promise<LabTenant> {
  return addTenantControlPlane(lab, 'kamaji', name, fields);
}

/** Applies a TenantControlPlane of Steward as a user. Steward creates the same objects as Kamaji. */
export async function addSteward(
  lab: OperatorLab,
  name: string,
  fields: Readonly<Record<string, unknown>> = {},
): Promise<LabTenant> {
  return addTenantControlPlane(lab, 'steward', name, fields);
}

async function addTenantControlPlane(
  lab: OperatorLab,
  provider: 'kamaji' | 'steward',
  name: string,
  fields: Readonly<Record<string, unknown>>,
): Promise<LabTenant> {
  const secrets: CreatedObjects['secrets'] = ({ authority, kubeconfig }) => [
    [`${name}-ca`, { 'ca.crt': authority.certificate, 'ca.key': authority.key }],
    [`${name}-admin-kubeconfig`, { 'admin.conf': kubeconfig, 'super-admin.svc': kubeconfig }],
  ];
  return addWithObjects(
    lab,
    PROVIDER_RESOURCES[provider],
    changed(readyTenantControlPlane(provider, name), fields),
    {
      service: name,
      ports: ['kube-apiserver', 'konnectivity-server'],
      secrets,
    },
  );
}

/** Applies a Cluster of k0smotron as a user, and adds the objects that k0smotron creates for it. */
export async function addK0smotron(
  lab: OperatorLab,
  name: string,
  fields: Readonly<Record<string, unknown>> = {},
): Promise<LabTenant> {
  const secrets: CreatedObjects['secrets'] = ({ authority, kubeconfig }) => [
    [`${name}-ca`, { 'tls.crt': authority.certificate, 'tls.key': authority.key }],
    [`${name}-kubeconfig`, { value: kubeconfig }],
  ];
  return addWithObjects(
    lab,
    PROVIDER_RESOURCES.k0smotron,
    changed(k0smotronCluster(name), fields),
    {
      service: `kmc-${name}`,
      ports: ['api', 'konnectivity'],
      secrets,
    },
  );
}

/** Applies the K0smotronControlPlane of a Cluster in this API version, and adds the objects that k0smotron creates. */
export async function addK0smotronControlPlane(
  lab: OperatorLab,
  cluster: string,
  version: 'v1beta1' | 'v1beta2',
  fields: Readonly<Record<string, unknown>> = {},
): Promise<LabTenant> {
  const secrets: CreatedObjects['secrets'] = ({ authority, kubeconfig }) => [
    [`${cluster}-ca`, { 'tls.crt': authority.certificate, 'tls.key': authority.key }],
    [`${cluster}-kubeconfig`, { value: kubeconfig }],
  ];
  const resource = withVersion(PROVIDER_RESOURCES.k0smotronControlPlane, version);
  const object = changed(k0smotronControlPlane(cluster), fields);
  const { apiVersion } = resource;
  return addWithObjects(
    lab,
    resource,
    { ...object, apiVersion },
    {
      tenant: cluster,
      service: `kmc-${cluster}`,
      ports: ['api', 'konnectivity'],
      secrets,
    },
  );
}

/** The objects that a provider creates for a control plane. */
interface CreatedObjects {
  /** Default: the name of the object. */
  readonly tenant?: string;
  readonly service: string;
  readonly ports: readonly string[];
  /** The data of the Secrets, by name. */
  readonly secrets: (
    tenant: LabTenant,
  ) => readonly (readonly [string, Readonly<Record<string, string>>])[];
}

async function addWithObjects(
  lab: OperatorLab,
  resource: Resource,
  object: ApiObject,
  { tenant: tenantName = object.metadata.name, service, ports: portNames, secrets }: CreatedObjects,
): Promise<LabTenant> {
  const tenant = await lab.startTenant(tenantName);
  const ports = portNames.map((name) => ({ name, port: tenant.port, protocol: 'TCP' }));
  const at = (name: string) => ({ name, namespace: TENANTS });
  lab.management.seed(
    objectOf('Service', at(service), {
      spec: { clusterIP: '127.0.0.1', clusterIPs: ['127.0.0.1'], ports },
    }),
    objectOf(
      'EndpointSlice',
      { ...at(`${service}-1`), labels: { 'kubernetes.io/service-name': service } },
      { addressType: 'IPv4', ports, endpoints: [{ addresses: ['127.0.0.1'] }] },
    ),
    ...secrets(tenant).map(([name, files]) => secretOf(at(name), files)),
  );
  const { uid: _uid, resourceVersion: _version, ...metadata } = object.metadata;
  const { status, ...desired } = { ...object, metadata } as KubeObject & { status?: unknown };
  await lab.user.apply(desired, { resource });
  const subresource = 'status';
  await lab.user.patch(resource, metadata, 'merge', { status }, { subresource });
  return tenant;
}
