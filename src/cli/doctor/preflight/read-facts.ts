/**
 * Reads the facts that the preflight checks need from a management cluster. It changes nothing: access reviews are created,
 * but the API server does not store them.
 */
import type { KubeClient } from '../../../kube/client/client.ts';
import { isKubeError } from '../../../kube/kube-error.ts';
import { keyText, type KubeObject } from '../../../kube/object.ts';
import { groupOf, RESOURCES, type Resource } from '../../../kube/resource.ts';
import { listAt, textAt, valueAt } from '../../../kube/unstructured.ts';
import { PROVIDERS } from '../../../providers/provider-for.ts';
import { versionsOf } from '../../../providers/provider-resources.ts';
import type { PreflightFacts } from './checks.ts';

const ACCESS_REVIEW: Resource = {
  apiVersion: 'authorization.k8s.io/v1',
  kind: 'SelfSubjectAccessReview',
  plural: 'selfsubjectaccessreviews',
  namespaced: false,
};

/** The API versions that Snicket always uses. */
const USED_APIS = [
  'apps/v1',
  'coordination.k8s.io/v1',
  'discovery.k8s.io/v1',
  'events.k8s.io/v1',
  'networking.k8s.io/v1',
  'rbac.authorization.k8s.io/v1',
] as const;

/** The cluster-scoped and namespaced resources that the manifests of Snicket create. */
const INSTALLED_RESOURCES = [
  { group: 'apiextensions.k8s.io', resource: 'customresourcedefinitions' },
  { group: '', resource: 'namespaces' },
  { group: 'rbac.authorization.k8s.io', resource: 'clusterroles' },
  { group: 'rbac.authorization.k8s.io', resource: 'clusterrolebindings' },
  { group: 'apps', resource: 'deployments' },
] as const;

/** The resource of each supported edge other than IngressClass, with the edge's name. */
const CONTROLLER_KINDS: readonly (readonly [string, Resource])[] = [
  ['Gateway API', RESOURCES.gateway],
  ['Traefik', RESOURCES.ingressRouteTcp],
  ['NGINX Ingress Controller', RESOURCES.transportServer],
  ['Contour', RESOURCES.httpProxy],
];

/**
 * Returns the facts. What the user is not allowed to list is undefined. @throws KubeError if the API server does not
 * respond.
 */
export async function readPreflightFacts(
  client: KubeClient,
  signal: AbortSignal,
): Promise<PreflightFacts> {
  const { gitVersion } = await client.version({ signal });
  const isServed = async ({ apiVersion, plural }: Resource) =>
    (await client.discoverPlurals(apiVersion, { signal })).has(plural);
  const listed = async (resource: Resource) => listIfAllowed(client, resource, signal);
  const [missingApis, denied, crds, classes, kinds, services, providers] = await Promise.all([
    filterAsync(
      USED_APIS,
      async (api) => (await client.discoverPlurals(api, { signal })).size === 0,
    ),
    readDenied(client, signal),
    listed(RESOURCES.customResourceDefinition),
    listed(RESOURCES.ingressClass),
    filterAsync(CONTROLLER_KINDS, async ([, resource]) => isServed(resource)),
    listed(RESOURCES.service),
    filterAsync(
      Object.values(PROVIDERS).flatMap(({ resource }) => versionsOf(resource)),
      isServed,
    ),
  ]);
  return {
    version: gitVersion,
    missingApis,
    denied,
    crds: crds
      ?.filter((object) => textAt(object, 'spec', 'group') === groupOf(RESOURCES.edge.apiVersion))
      .map((object) => ({ name: object.metadata.name, versions: servedVersions(object) })),
    controllers: kinds.map(([name]) => name),
    ingressClasses: classes?.map(({ metadata }) => metadata.name),
    loadBalancers: services?.flatMap((service) => {
      const address = addressOf(service);
      const isLoadBalancer = textAt(service, 'spec', 'type') === 'LoadBalancer';
      return address === undefined || !isLoadBalancer
        ? []
        : `${keyText(service.metadata)} (${address})`;
    }),
    providers: [
      ...new Set(providers.map(({ apiVersion, kind }) => `${kind} (${groupOf(apiVersion)})`)),
    ],
  };
}

async function filterAsync<T>(
  values: readonly T[],
  predicate: (value: T) => Promise<boolean>,
): Promise<readonly T[]> {
  const results = await Promise.all(values.map(predicate));
  return values.filter((_, index) => results[index] === true);
}

/** Returns undefined if the user is not allowed to list the resource. */
async function listIfAllowed(
  client: KubeClient,
  resource: Resource,
  signal: AbortSignal,
): Promise<readonly KubeObject[] | undefined> {
  try {
    return (await client.list(resource, { signal })).items;
  } catch (error) {
    if (isKubeError(error, 'NotFound')) return [];
    if (isKubeError(error, 'Forbidden')) return undefined;
    throw error;
  }
}

/** Returns the create actions that the user is not allowed to perform; undefined if access reviews are not served. */
async function readDenied(
  client: KubeClient,
  signal: AbortSignal,
): Promise<readonly string[] | undefined> {
  try {
    const denied = await filterAsync(
      INSTALLED_RESOURCES,
      async (resource) => !(await canCreate(client, resource, signal)),
    );
    return denied.map(({ group, resource }) =>
      group === '' ? `create ${resource}` : `create ${resource}.${group}`,
    );
  } catch (error) {
    if (isKubeError(error, 'NotFound', 'Forbidden')) return undefined;
    throw error;
  }
}

async function canCreate(
  client: KubeClient,
  { group, resource }: (typeof INSTALLED_RESOURCES)[number],
  signal: AbortSignal,
): Promise<boolean> {
  const { apiVersion, kind } = ACCESS_REVIEW;
  const review: KubeObject & { readonly spec: object } = {
    apiVersion,
    kind,
    metadata: { name: '' },
    spec: { resourceAttributes: { group, resource, verb: 'create' } },
  };
  const reviewed: KubeObject = await client.create(ACCESS_REVIEW, review, { signal });
  return valueAt(reviewed, 'status', 'allowed') === true;
}

function servedVersions(crd: KubeObject): readonly string[] {
  return listAt(crd, 'spec', 'versions')
    .filter((version) => valueAt(version, 'served') === true)
    .flatMap((version) => textAt(version, 'name') ?? []);
}

function addressOf(service: KubeObject): string | undefined {
  const [first] = listAt(service, 'status', 'loadBalancer', 'ingress');
  return textAt(first, 'ip') ?? textAt(first, 'hostname');
}
