/**
 * Reads from a management cluster what an installation depends on. Writes nothing: the API server does not store access
 * reviews.
 */
import type { KubeClient } from '../../../kube/client/client.ts';
import { isKubeError } from '../../../kube/kube-error.ts';
import { keyText, type KubeObject } from '../../../kube/object.ts';
import { groupOf, RESOURCES, type Resource } from '../../../kube/resource.ts';
import { listAt, textAt, valueAt } from '../../../kube/unstructured.ts';
import { PROVIDERS } from '../../../providers/provider-for.ts';
import { versionsOf } from '../../../providers/provider-resources.ts';
import type { InstallationFacts } from './requirements.ts';

const ACCESS_REVIEW: Resource = {
  apiVersion: 'authorization.k8s.io/v1',
  kind: 'SelfSubjectAccessReview',
  plural: 'selfsubjectaccessreviews',
  namespaced: false,
};

/** API versions that every installation uses. */
const USED_APIS = [
  'apps/v1',
  'coordination.k8s.io/v1',
  'discovery.k8s.io/v1',
  'events.k8s.io/v1',
  'networking.k8s.io/v1',
  'rbac.authorization.k8s.io/v1',
] as const;

/** The kinds of an installation. */
const CREATED = [
  { group: 'apiextensions.k8s.io', resource: 'customresourcedefinitions' },
  { group: '', resource: 'namespaces' },
  { group: 'rbac.authorization.k8s.io', resource: 'clusterroles' },
  { group: 'rbac.authorization.k8s.io', resource: 'clusterrolebindings' },
  { group: 'apps', resource: 'deployments' },
] as const;

/** The kinds of controllers that Snicket routes through, by their name for users. */
const CONTROLLER_KINDS: readonly (readonly [string, Resource])[] = [
  ['Gateway API', RESOURCES.gateway],
  ['Traefik', RESOURCES.ingressRouteTcp],
  ['NGINX Ingress Controller', RESOURCES.transportServer],
  ['Contour', RESOURCES.httpProxy],
];

/** Returns the facts. What the user may not list counts as absent. @throws KubeError if the server does not answer */
export async function readInstallationFacts(
  client: KubeClient,
  signal: AbortSignal,
): Promise<InstallationFacts> {
  const { gitVersion } = await client.version({ signal });
  const isServed = async ({ apiVersion, plural }: Resource) =>
    (await client.discoverPlurals(apiVersion, { signal })).has(plural);
  const listed = async (resource: Resource) => listIfAllowed(client, resource, signal);
  const [missingApis, denied, definitions, classes, kinds, services, providers] = await Promise.all(
    [
      filtered(
        USED_APIS,
        async (api) => (await client.discoverPlurals(api, { signal })).size === 0,
      ),
      readDenied(client, signal),
      listed(RESOURCES.customResourceDefinition),
      listed(RESOURCES.ingressClass),
      filtered(CONTROLLER_KINDS, async ([, resource]) => isServed(resource)),
      listed(RESOURCES.service),
      filtered(
        Object.values(PROVIDERS).flatMap(({ resource }) => versionsOf(resource)),
        isServed,
      ),
    ],
  );
  return {
    version: gitVersion,
    missingApis,
    denied,
    definitions: definitions
      .filter((object) => textAt(object, 'spec', 'group') === groupOf(RESOURCES.edge.apiVersion))
      .map((object) => ({ name: object.metadata.name, versions: servedVersions(object) })),
    controllers: [
      ...kinds.map(([name]) => name),
      ...classes.map(({ metadata }) => `IngressClass ${metadata.name}`),
    ],
    loadBalancers: services.flatMap((service) => {
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

async function filtered<T>(
  values: readonly T[],
  keep: (value: T) => Promise<boolean>,
): Promise<readonly T[]> {
  const kept = await Promise.all(values.map(keep));
  return values.filter((_, at) => kept[at] === true);
}

async function listIfAllowed(
  client: KubeClient,
  resource: Resource,
  signal: AbortSignal,
): Promise<readonly KubeObject[]> {
  try {
    return (await client.list(resource, { signal })).items;
  } catch (error) {
    if (isKubeError(error, 'Forbidden', 'NotFound')) return [];
    throw error;
  }
}

/** Returns what the user may not create; undefined if the server does not serve access reviews. */
async function readDenied(
  client: KubeClient,
  signal: AbortSignal,
): Promise<readonly string[] | undefined> {
  try {
    const denied = await filtered(
      CREATED,
      async (created) => !(await mayCreate(client, created, signal)),
    );
    return denied.map(({ group, resource }) =>
      group === '' ? `create ${resource}` : `create ${resource}.${group}`,
    );
  } catch (error) {
    if (isKubeError(error, 'NotFound', 'Forbidden')) return undefined;
    throw error;
  }
}

async function mayCreate(
  client: KubeClient,
  { group, resource }: (typeof CREATED)[number],
  signal: AbortSignal,
): Promise<boolean> {
  const { apiVersion, kind } = ACCESS_REVIEW;
  const review: KubeObject & { readonly spec: object } = {
    apiVersion,
    kind,
    metadata: { name: '' },
    spec: { resourceAttributes: { group, resource, verb: 'create' } },
  };
  const answer: KubeObject = await client.create(ACCESS_REVIEW, review, { signal });
  return valueAt(answer, 'status', 'allowed') === true;
}

function servedVersions(definition: KubeObject): readonly string[] {
  return listAt(definition, 'spec', 'versions')
    .filter((version) => valueAt(version, 'served') === true)
    .flatMap((version) => textAt(version, 'name') ?? []);
}

function addressOf(service: KubeObject): string | undefined {
  const [first] = listAt(service, 'status', 'loadBalancer', 'ingress');
  return textAt(first, 'ip') ?? textAt(first, 'hostname');
}
