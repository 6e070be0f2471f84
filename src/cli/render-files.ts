/**
 * Plans from files alone, with no cluster to ask. What only a cluster could say is assumed, and said to be.
 */
import type { Exposure } from '../api/exposure.ts';
import { driverFor } from '../edges/driver-for.ts';
import type { ServedApis } from '../edges/driver.ts';
import type { KubeClient } from '../kube/client.ts';
import { keyText, objectText, type KubeObject } from '../kube/object.ts';
import { RESOURCES, type Resource } from '../kube/resource.ts';
import { edgeFindings, strangerFindings } from '../operator/exposure/route-changes.ts';
import { lookAtExposure, type Viewpoint } from '../operator/look.ts';
import { ManagementSnapshot } from '../operator/management/management-snapshot.ts';
import { providedOutlook, type Outlook } from '../operator/outlook.ts';
import type { ProxyCredentials, TenantFacts } from '../tenant/tenant-facts.ts';
import { placeholder } from '../plan/placeholder.ts';
import { planExposure } from '../plan/plan.ts';
import type { Secret } from '../providers/plain.ts';

/** What is assumed of clusters that nobody asks. */
export interface Assumptions {
  /** Of the operator. */
  readonly namespace: string;
  readonly proxyImage: string;
  /** Of every tenant, but for the domain if its Exposure says it. */
  readonly tenant: Omit<TenantFacts, 'nodes'>;
}

/** A cluster with every kind that a driver may write, each in its newest version. */
const EVERYTHING: ServedApis = { has: () => true };

/** The outlook of each Exposure among the objects, by name, and a sentence for each object that was assumed. */
export async function outlooksOfFiles(
  objects: readonly KubeObject[],
  assumptions: Assumptions,
): Promise<{ readonly outlooks: readonly Outlook[]; readonly assumed: readonly string[] }> {
  const added = assumedObjects(objects);
  const all = [...objects, ...added];
  const management = new ManagementSnapshot(all, EVERYTHING, readerOf(all));
  const viewpoint = { ...assumptions, management };
  const exposures = management.exposures.toSorted((a, b) =>
    keyText(a.metadata) < keyText(b.metadata) ? -1 : 1,
  );
  const outlooks: Outlook[] = [];
  for (const object of exposures) outlooks.push(await outlookOf(object, viewpoint, assumptions));
  return { outlooks, assumed: added.map((object) => `${objectText(object)} is in no file`) };
}

async function outlookOf(
  object: KubeObject,
  viewpoint: Viewpoint & { readonly management: ManagementSnapshot },
  assumptions: Assumptions,
): Promise<Outlook> {
  const { value: wish, finding } = viewpoint.management.book.wishOf(object);
  if (wish === undefined) return { object, isRouted: false, findings: [finding] };
  const { signal } = new AbortController();
  const look = await lookAtExposure(object, wish, viewpoint, signal);
  const provided = await providedOutlook(look, viewpoint, signal);
  const { clusterDomain = assumptions.tenant.clusterDomain } = wish.exposure.spec.controlPlane;
  const tenant = { ...assumptions.tenant, clusterDomain, nodes: [] };
  const credentials = CREDENTIALS[look.plan.mode];
  const plan = planExposure(wish, { ...look.facts, tenant, credentials });
  const { routes } = plan;
  const { driver } = wish.edge.spec;
  // How the edge is set up is judged if the files say it.
  const isTold = driverFor(driver).reads.every((kind) => viewpoint.management.all(kind).length > 0);
  return {
    ...{ object, wish, plan, ...provided, isRouted: true },
    findings: [
      ...plan.findings,
      ...(wish.warning === undefined ? [] : [wish.warning]),
      ...(provided.preparation?.findings ?? []),
      ...look.reading.findings,
      ...strangerFindings(viewpoint, object, plan, wish.edge),
      ...(routes === undefined || !isTold ? [] : edgeFindings(viewpoint, routes, wish.edge)),
    ],
  };
}

const CREDENTIALS: Readonly<Record<'terminate' | 'passthrough', ProxyCredentials>> = {
  terminate: {
    certificate: placeholder("a certificate by the tenant's CA, which the operator makes"),
    key: placeholder('its key, which the operator makes'),
  },
  passthrough: {
    tenantKey: placeholder("a key that the operator derives from the gateway's"),
  },
};

/** What Exposures name and no file has: the Service with the ports that they name, Secrets with a text for each value. */
function assumedObjects(objects: readonly KubeObject[]): readonly KubeObject[] {
  const added = new Map<string, KubeObject>();
  const assume = (object: KubeObject) => {
    const isSame = (other: KubeObject) => isAt(other, object, object.metadata);
    if (!objects.some(isSame)) added.set(objectText(object), object);
  };
  const book = new ManagementSnapshot(objects, EVERYTHING).book;
  for (const object of objects) {
    const { value: exposure } =
      object.kind === RESOURCES.exposure.kind ? book.exposureIn(object) : {};
    if (exposure !== undefined) for (const needed of namedBy(exposure)) assume(needed);
  }
  return [...added.values()];
}

function namedBy({ metadata: { namespace }, spec }: Exposure): readonly KubeObject[] {
  const { service, caSecret, kubeconfigSecret } = spec.controlPlane;
  const found: KubeObject[] = [];
  if (service !== undefined) {
    const { name, apiPort, konnectivityPort } = service;
    found.push(assumedService({ name, namespace }, apiPort, konnectivityPort));
  }
  if (caSecret !== undefined) {
    const { name, certificateKey, privateKeyKey } = caSecret;
    found.push(assumedSecret({ name, namespace }, certificateKey, privateKeyKey));
  }
  if (kubeconfigSecret !== undefined) {
    const { name, key } = kubeconfigSecret;
    found.push(assumedSecret({ name, namespace }, key));
  }
  return found;
}

function assumedService(
  metadata: KubeObject['metadata'],
  ...ports: readonly (number | undefined)[]
): KubeObject {
  const spec = { ports: ports.flatMap((port) => (port === undefined ? [] : { port })) };
  const service = { apiVersion: 'v1', kind: 'Service', metadata, spec };
  return service;
}

function assumedSecret(
  metadata: KubeObject['metadata'],
  ...entries: readonly string[]
): KubeObject {
  const valueOf = (entry: string) => placeholder(`${entry} of Secret ${keyText(metadata)}`);
  const data: Record<string, string> = {};
  for (const entry of entries) data[entry] = Buffer.from(valueOf(entry)).toString('base64');
  const secret: Secret = { apiVersion: 'v1', kind: 'Secret', metadata, data, isAssumed: true };
  return secret;
}

function readerOf(objects: readonly KubeObject[]): Pick<KubeClient, 'get'> {
  return {
    get: async <T extends KubeObject>(resource: Resource, key: { name: string }) =>
      Promise.resolve(objects.find((object) => isAt(object, resource, key)) as T | undefined),
  };
}

function isAt(
  object: KubeObject,
  { apiVersion, kind }: Pick<Resource, 'apiVersion' | 'kind'>,
  key: Parameters<typeof keyText>[0],
): boolean {
  return (
    object.apiVersion === apiVersion &&
    object.kind === kind &&
    keyText(object.metadata) === keyText(key)
  );
}
