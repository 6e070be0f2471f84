import { describe, expect, test } from 'bun:test';
import type { KubeObject } from '../kube/object.ts';
import type { Resource } from '../kube/resource.ts';
import { WorkQueue } from '../kube/work-queue.ts';
import { PROVIDER_RESOURCES } from '../providers/provider-resources.ts';
import {
  capiCluster,
  clusterDeployment,
  freshTenant,
  k0smotronCluster,
  k0smotronControlPlane,
} from '../providers/testing/provider-objects.ts';
import { ExposureBook } from './management/exposure-book.ts';
import { Triggers, type TriggersOptions } from './triggers.ts';

/** Which Exposures are looked at when an object changes, of one for each of these. */
async function lookedAt(
  changed: KubeObject,
  refs: Readonly<Record<string, { readonly resource: Resource; readonly name: string }>>,
): Promise<readonly string[]> {
  const objects = Object.entries(refs).map(([name, { resource, name: of }]): KubeObject => {
    const { apiVersion, kind } = resource;
    const spec = { controlPlane: { ref: { apiVersion, kind, name: of } } };
    const object = {
      ...{ apiVersion: 'snicket.dev/v1alpha1', kind: 'Exposure', spec },
      metadata: { name, namespace: 'tenants' },
    };
    return object;
  });
  const sources = { exposures: () => objects, edges: () => [] };
  const controlPlanes = [k0smotronControlPlane('amber')];
  const management = {
    ...{ exposures: { list: () => objects }, book: new ExposureBook(sources) },
    provided: () => controlPlanes,
  } as unknown as ReturnType<TriggersOptions['management']>;
  const queue = () => new WorkQueue({ onFailure: ({ key }) => keys.push(`${key} failed`) });
  const keys: string[] = [];
  const [exposures, edges, shims] = [queue(), queue(), queue()];
  const triggers = new Triggers({
    ...{ management: () => management, exposures, edges, shims, namespace: 'snicket-system' },
    hasForeignStatus: () => false,
  });

  triggers.onProvided(changed);

  const ended = new AbortController();
  const running = exposures.run(async (key) => void keys.push(key), { signal: ended.signal });
  ended.abort();
  await running;
  return keys.map((key) => key.replace('tenants/', '')).toSorted();
}

const { kamaji, steward, k0smotron, k0smotronControlPlane: capi } = PROVIDER_RESOURCES;
const ALL = {
  'of-kamaji': { resource: kamaji, name: 'blue' },
  'of-steward': { resource: steward, name: 'blue' },
  'of-k0smotron': { resource: k0smotron, name: 'amber' },
  'of-capi': { resource: capi, name: 'amber-cp' },
  'of-k0rdent': { resource: PROVIDER_RESOURCES.clusterDeployment, name: 'amber' },
};

describe("a change of a provider's object concerns", () => {
  test.each<[string, KubeObject, readonly string[]]>([
    ['the Exposure that names it', freshTenant('kamaji', 'blue'), ['of-kamaji']],
    ['nobody, if nobody names it', freshTenant('kamaji', 'green'), []],
    [
      'of a K0smotronControlPlane also its ClusterDeployment',
      k0smotronControlPlane('amber'),
      ['of-capi', 'of-k0rdent'],
    ],
    [
      'of a Cluster of k0smotron what it was made of',
      k0smotronCluster('amber'),
      ['of-capi', 'of-k0rdent', 'of-k0smotron'],
    ],
    [
      'of a Cluster of Cluster API its control plane',
      capiCluster('amber'),
      ['of-capi', 'of-k0rdent'],
    ],
    ['of a ClusterDeployment itself', clusterDeployment('amber', 'any'), ['of-k0rdent']],
  ])('%s', async (_, object, expected) => {
    expect(await lookedAt(object, ALL)).toEqual(expected);
  });

  test('nobody in another namespace', async () => {
    const tenant = freshTenant('kamaji', 'blue');
    const elsewhere = { ...tenant, metadata: { ...tenant.metadata, namespace: 'others' } };

    expect(await lookedAt(elsewhere, ALL)).toEqual([]);
  });
});
