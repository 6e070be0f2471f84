/**
 * Plans from files alone, with no cluster to ask. What only a cluster could say is assumed, and said to be.
 */
import type { Exposure } from '../../api/exposure.ts';
import type { Finding } from '../../api/finding.ts';
import { driverFor } from '../../edges/driver-for.ts';
import type { ServedApis } from '../../edges/driver.ts';
import { keyText, objectText, type KubeObject } from '../../kube/object.ts';
import { RESOURCES } from '../../kube/resource.ts';
import { edgeFindings, strangerFindings } from '../../management/edge-state.ts';
import { observeExposure, type Viewpoint } from '../../reconcile/observe.ts';
import { controlPlaneObjects } from '../../management/control-plane-objects.ts';
import { ManagementSnapshot } from '../../management/management-snapshot.ts';
import { providedOutlook, type Outlook } from '../../reconcile/outlook.ts';
import { plannedLease } from '../../reconcile/tenant/ownership/read-ownership.ts';
import type { ProxyCredentials } from '../../tenant/tenant-facts.ts';
import { placeholder } from '../../plan/placeholder.ts';
import { planExposure } from '../../plan/plan.ts';
import type { ProvidedFacts } from '../../providers/reading/control-plane-reading.ts';
import type { Secret } from '../../providers/plain.ts';
import {
  readControlPlane,
  type ControlPlaneReading,
} from '../../providers/reading/read-control-plane.ts';
import { kubernetesAddress } from '../../providers/reading/service-network.ts';
import { askedExposures, withOwners, type AskedExposures } from '../sources/asked-exposures.ts';
import { isAt, readerOf } from '../sources/object-reader.ts';
import type { TenantWords } from '../flags/tenant-flags.ts';

/** What is assumed of clusters that nobody asks. */
export interface Assumptions {
  /** Of the operator. */
  readonly namespace: string;
  readonly proxyImage: string;
  /** Of every tenant, as somebody says it; what is absent is taken from its Exposure, from its provider, or {@link USUAL}. */
  readonly tenant: Partial<TenantWords>;
  /** As of `snicket run`, whose gateway is on this machine, and which has nothing but its files. Default: no. */
  readonly isGatewayHere?: boolean;
}

/** What kubeadm and most others choose. */
const USUAL: TenantWords = {
  ...{ version: 'v1.36.0', serviceAddresses: ['10.96.0.1'], clusterDomain: 'cluster.local' },
};

/** A cluster with every kind that a driver may write, each in its newest version. */
const EVERYTHING: ServedApis = { has: () => true };

/** Which of the Exposures are meant. */
type Chooser = (exposures: readonly KubeObject[]) => readonly KubeObject[];

/**
 * The outlook of each Exposure that is among the objects, or that one of them asks for, by name; and a sentence for each
 * object that was added. The others are there too: they may hold a host.
 *
 * @throws what `choose` throws. Default: all are meant.
 */
export async function outlooksOfFiles(
  files: readonly KubeObject[],
  assumptions: Assumptions,
  choose: Chooser = (all) => all,
): Promise<{ readonly outlooks: readonly Outlook[]; readonly notes: readonly string[] }> {
  const owned = withOwners(files);
  const inFiles = new ManagementSnapshot(owned, EVERYTHING, readerOf(owned));
  const asked = askedExposures(owned, inFiles);
  const exposures = [...inFiles.exposures, ...asked.exposures];
  const unmet = unmetIn(asked, exposures);
  const chosen = new Set(choose([...exposures, ...unmet.map(({ object }) => object)]));
  const objects = [...owned, ...asked.exposures];
  const added = assumptions.isGatewayHere === true ? [] : await assumedObjects(objects, chosen);
  const all = [...objects, ...added];
  const management = new ManagementSnapshot(all, EVERYTHING, readerOf(all));
  const viewpoint = { ...assumptions, management };
  const outlooks = unmet.filter(({ object }) => chosen.has(object));
  for (const object of exposures.filter((one) => chosen.has(one))) {
    const outlook = await outlookOf(object, viewpoint, assumptions);
    const said = asked.findings.get(keyText(object.metadata)) ?? [];
    outlooks.push({ ...outlook, findings: [...outlook.findings, ...said] });
  }
  return {
    outlooks: outlooks.toSorted((a, b) =>
      keyText(a.object.metadata) < keyText(b.object.metadata) ? -1 : 1,
    ),
    notes: [
      ...[...chosen].flatMap(({ metadata }) => asked.sentences.get(keyText(metadata)) ?? []),
      ...added.map((object) => `${objectText(object)} is in no file, and was assumed`),
    ],
  };
}

/** Annotations that lead to nothing: an Exposure of that name, with why. */
function unmetIn({ findings }: AskedExposures, exposures: readonly KubeObject[]): Outlook[] {
  const there = new Set(exposures.map(({ metadata }) => keyText(metadata)));
  return [...findings]
    .filter(([key]) => !there.has(key))
    .map(([key, said]) => {
      const [namespace = '', name = ''] = key.split('/');
      const { apiVersion, kind } = RESOURCES.exposure;
      const object = { apiVersion, kind, metadata: { name, namespace } };
      return { object, isRouted: false, findings: said };
    });
}

async function outlookOf(
  object: KubeObject,
  viewpoint: Viewpoint & { readonly management: ManagementSnapshot },
  assumptions: Assumptions,
): Promise<Outlook> {
  const { value: wish, finding } = viewpoint.management.book.resolve(object);
  if (wish === undefined) return { object, isRouted: false, findings: [finding] };
  const { signal } = new AbortController();
  const look = await observeExposure(object, wish, viewpoint, signal);
  const provided = await providedOutlook(object, look, viewpoint, signal);
  const { clusterDomain } = wish.exposure.spec.controlPlane;
  const tenant = {
    ...{ ...USUAL, ...wordsOf(look.reading.provided), ...assumptions.tenant, nodes: [] },
    ...(clusterDomain !== undefined && { clusterDomain }),
  };
  const credentials = CREDENTIALS[look.plan.mode];
  const planned = planExposure(wish, { ...look.facts, tenant, credentials });
  const plan = {
    ...planned,
    tenant: planned.tenant && [plannedLease(object), ...planned.tenant],
  };
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
      ...readingFindings(look.reading),
      ...strangerFindings(viewpoint, object, plan, wish.edge),
      ...(routes === undefined || !isTold ? [] : edgeFindings(viewpoint, routes, wish.edge)),
    ],
  };
}

/** That a chart has yet to make a control plane is no fault of files that have all that a person writes. */
function readingFindings({ findings, provided }: ControlPlaneReading): readonly Finding[] {
  return findings.map((finding) =>
    provided !== undefined && finding.code === 'ControlPlaneMissing'
      ? { ...finding, severity: 'warning', action: 'if you have it, put it into the files too' }
      : finding,
  );
}

const CREDENTIALS: Readonly<Record<'Terminate' | 'Passthrough', ProxyCredentials>> = {
  Terminate: {
    certificate: placeholder("a certificate by the tenant's CA, which the operator makes"),
    key: placeholder('its key, which the operator makes'),
  },
  Passthrough: {
    tenantKey: placeholder("a key that the operator derives from the gateway's"),
  },
};

/** What the object of a provider says of its tenant. */
function wordsOf(provided: ProvidedFacts | undefined): Partial<TenantWords> {
  if (provided === undefined) return {};
  const { version, serviceCidrs, clusterDomain } = provided;
  const [address] = serviceCidrs.slice(0, 1).flatMap((network) => kubernetesAddress(network) ?? []);
  return {
    ...(version !== undefined && { version }),
    ...(address !== undefined && { serviceAddresses: [address] }),
    clusterDomain,
  };
}

/** What these Exposures name and no file has: the Service with the ports that they name, Secrets with a text for each value. */
async function assumedObjects(
  objects: readonly KubeObject[],
  exposures: ReadonlySet<KubeObject>,
): Promise<readonly KubeObject[]> {
  const added = new Map<string, KubeObject>();
  const assume = (object: KubeObject) => {
    const isSame = (other: KubeObject) => isAt(other, object, object.metadata);
    if (objects.some(isSame)) return;
    // One Secret may be named for several of its values.
    const key = objectText(object);
    const [before, now] = [added.get(key), object] as readonly (Secret | undefined)[];
    const data = { ...before?.data, ...now?.data };
    added.set(key, before?.data === undefined ? object : ({ ...object, data } as KubeObject));
  };
  const snapshot = new ManagementSnapshot(objects, EVERYTHING, readerOf(objects));
  const inFiles = controlPlaneObjects(snapshot, new AbortController().signal);
  for (const object of exposures) {
    const { value: exposure } = snapshot.book.exposureIn(object);
    if (exposure === undefined) continue;
    const { provided } = await readControlPlane(exposure, inFiles);
    for (const needed of [...namedBy(exposure), ...madeBy(provided)]) assume(needed);
  }
  return [...added.values()];
}

/** What a provider makes for its control plane. */
function madeBy(provided: ProvidedFacts | undefined): readonly KubeObject[] {
  if (provided?.places === undefined) return [];
  const { namespace, service, ports, portNames, ca, kubeconfig } = provided.places;
  const kinds = provided.hasKonnectivity ? (['api', 'konnectivity'] as const) : (['api'] as const);
  const { certificateKey, privateKeyKey } = ca;
  return [
    assumedService(
      { name: service, namespace },
      ...kinds.map((kind) => ({ name: portNames[kind], port: ports[kind] })),
    ),
    assumedSecret({ name: ca.name, namespace }, certificateKey, privateKeyKey),
    assumedSecret({ name: kubeconfig.name, namespace }, ...kubeconfig.entries.slice(0, 1)),
  ];
}

function namedBy({ metadata: { namespace }, spec }: Exposure): readonly KubeObject[] {
  const { service, caSecretRef, kubeconfigSecretRef } = spec.controlPlane;
  const found: KubeObject[] = [];
  if (service !== undefined) {
    const { name, apiPort, konnectivityPort } = service;
    const ports = [apiPort, konnectivityPort].flatMap((port) =>
      port === undefined ? [] : { port },
    );
    found.push(assumedService({ name, namespace }, ...ports));
  }
  if (caSecretRef !== undefined) {
    const { name, certificateKey, privateKeyKey } = caSecretRef;
    found.push(assumedSecret({ name, namespace }, certificateKey, privateKeyKey));
  }
  if (kubeconfigSecretRef !== undefined) {
    const { name, key } = kubeconfigSecretRef;
    found.push(assumedSecret({ name, namespace }, key));
  }
  return found;
}

function assumedService(
  metadata: KubeObject['metadata'],
  ...ports: readonly { readonly name?: string; readonly port: number }[]
): KubeObject {
  const service = { apiVersion: 'v1', kind: 'Service', metadata, spec: { ports } };
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
