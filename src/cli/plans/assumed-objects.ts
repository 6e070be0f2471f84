/**
 * Objects that a plan from files assumes, because no file has them.
 */
import type { Exposure } from '../../api/exposure.ts';
import type { DiscoveredApis } from '../../edges/driver.ts';
import { keyText, objectText, type KubeObject } from '../../kube/object.ts';
import { controlPlaneObjects } from '../../management/control-plane-objects.ts';
import { ManagementSnapshot } from '../../management/management-snapshot.ts';
import { placeholder } from '../../plan/placeholder.ts';
import type { ProvidedFacts } from '../../providers/reading/control-plane-reading.ts';
import type { Secret } from '../../providers/plain.ts';
import { readControlPlane } from '../../providers/reading/read-control-plane.ts';
import { isAt, readerOf } from '../sources/object-reader.ts';

/** Assumes a cluster with every kind that a driver may write, each in its newest version. */
export const ASSUMED_APIS: DiscoveredApis = { has: () => true };

/**
 * Returns the objects that these Exposures need and no file has: Services with the ports that they name, and Secrets
 * with placeholders.
 */
export async function assumedObjects(
  objects: readonly KubeObject[],
  exposures: ReadonlySet<KubeObject>,
): Promise<readonly KubeObject[]> {
  const added = new Map<string, KubeObject>();
  const assume = (object: KubeObject) => {
    const isSame = (other: KubeObject) => isAt(other, object, object.metadata);
    if (objects.some(isSame)) return;
    // Several references may name one Secret, each with other keys.
    const key = objectText(object);
    const [before, now] = [added.get(key), object] as readonly (Secret | undefined)[];
    const data = { ...before?.data, ...now?.data };
    added.set(key, before?.data === undefined ? object : ({ ...object, data } as KubeObject));
  };
  const snapshot = new ManagementSnapshot(objects, ASSUMED_APIS, readerOf(objects));
  const inFiles = controlPlaneObjects(snapshot, new AbortController().signal);
  for (const object of exposures) {
    const { value: exposure } = snapshot.exposureIndex.exposureIn(object);
    if (exposure === undefined) continue;
    const { provided } = await readControlPlane(exposure, inFiles);
    for (const needed of [...referencedBy(exposure), ...createdBy(provided)]) assume(needed);
  }
  return [...added.values()];
}

/** Returns what a provider creates for its control plane. */
function createdBy(provided: ProvidedFacts | undefined): readonly KubeObject[] {
  if (provided?.names === undefined) return [];
  const { namespace, service, ports, portNames, ca, kubeconfig } = provided.names;
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

function referencedBy({ metadata: { namespace }, spec }: Exposure): readonly KubeObject[] {
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
