/**
 * k0smotron under Cluster API. Its controller creates, for a K0smotronControlPlane, a k0smotron Cluster with the name
 * of the Cluster API Cluster. Snicket writes only the K0smotronControlPlane, because its controller sometimes
 * replaces the whole k0smotron Cluster.
 */
import { textAt, textsAt, valueAt } from '../kube/unstructured.ts';
import { objectText, type KubeObject } from '../kube/object.ts';
import type { Finding } from '../api/finding.ts';
import type { ControlPlaneObjects, ControlPlaneReading } from './reading/control-plane-reading.ts';
import { clusterNameOf, factsOf, namesOf, type ClusterNetwork } from './k0s/control-plane.ts';
import { k0sFields, k0sFindings } from './k0s/preparation.ts';
import type { Preparation, PreparationSpec } from './preparation/preparation.ts';
import { readProvided } from './reading/provided-reading.ts';
import type { Provider } from './provider.ts';
import { inVersionOf, PROVIDER_RESOURCES } from './provider-resources.ts';

/** The provider k0smotron under Cluster API. */
export const capiK0smotron: Provider = {
  name: 'capi-k0smotron',
  resource: PROVIDER_RESOURCES.k0smotronControlPlane,
  read: async (object, objects) => readK0smotronControlPlane(object, objects),
  prepare: (objects, spec) => objects.map((object) => prepareK0smotronControlPlane(object, spec)),
  clearedBeforeRemoval: [],
  pendingRollout: async () => undefined,
};

/** Reads a K0smotronControlPlane. @throws the errors of reading objects */
export async function readK0smotronControlPlane(
  object: KubeObject,
  objects: ControlPlaneObjects,
): Promise<ControlPlaneReading> {
  const name = clusterNameOf(object);
  if (name === undefined) {
    const facts = factsOf(object, 'capi-k0smotron', { status: valueAt(object, 'status') });
    return { addresses: [], findings: [clusterUnknown(object)], provided: facts };
  }
  const key = { name, namespace: object.metadata.namespace };
  const k0smotronCluster = await objects.object?.(PROVIDER_RESOURCES.k0smotron, key);
  const cluster = await objects.object?.(PROVIDER_RESOURCES.capiCluster, key);
  const facts = factsOf(object, 'capi-k0smotron', {
    // The status of the k0smotron Cluster takes precedence. The K0smotronControlPlane becomes ready only after a
    // connection through the edge, so waiting for its status would be a deadlock.
    status: valueAt(k0smotronCluster, 'status') ?? valueAt(object, 'status'),
    network: networkOf(cluster),
  });
  return readProvided(object, namesOf(object, name), facts, objects);
}

/** Returns the desired fields of a K0smotronControlPlane. */
export function prepareK0smotronControlPlane(
  object: KubeObject,
  spec: PreparationSpec,
): Preparation {
  return {
    object,
    resource: inVersionOf(PROVIDER_RESOURCES.k0smotronControlPlane, object),
    fields: k0sFields(object, spec),
    findings: k0sFindings(object, spec),
  };
}

function networkOf(cluster: KubeObject | undefined): ClusterNetwork {
  const network = valueAt(cluster, 'spec', 'clusterNetwork');
  return {
    serviceCidrs: textsAt(network, 'services', 'cidrBlocks'),
    serviceDomain: textAt(network, 'serviceDomain'),
  };
}

function clusterUnknown(object: KubeObject): Finding {
  return {
    code: 'ControlPlaneInactive',
    severity: 'error',
    message: `${objectText(object)} has neither an owner of kind Cluster nor the label cluster.x-k8s.io/cluster-name, which determines the names of its Service and Secrets.`,
    action: `Check that a Cluster of cluster.x-k8s.io references it in spec.controlPlaneRef, or set the label cluster.x-k8s.io/cluster-name.`,
  };
}
