/**
 * The plan of every example in the docs, as text for review: __snapshots__/documented-plans.test.ts.snap.
 */
import { describe, expect, test } from 'bun:test';
import { documentedObjects, type DocumentedObject } from '../api/testing/documented-objects.ts';
import type { KubeObject } from '../kube/object.ts';
import { makeCa } from '../pki/testing/test-ca.ts';
import { isOfKind, PROVIDER_RESOURCES } from '../providers/provider-resources.ts';
import { createdFor } from '../providers/testing/created-objects.ts';
import { kubeconfigFor } from '../providers/testing/provider-objects.ts';
import { planText } from './plans/plans.ts';
import { plansOfFiles } from './plans/render-files.ts';

const { objects } = documentedObjects();
const authority = await makeCa();

function shown(page: string, isMeant: (object: KubeObject) => boolean): readonly KubeObject[] {
  return objects
    .filter((one) => one.page === page && isMeant(one.object))
    .map(({ object }) => object);
}

function ofKind(kind: string): (object: KubeObject) => boolean {
  return (object) => object.kind === kind;
}

/** Returns findings and plan, as `snicket render` shows them. */
async function planOf(files: readonly KubeObject[], only?: 'management'): Promise<string> {
  const { shown } = await plansOfFiles(files, {
    namespace: 'snicket-system',
    proxyImage: 'snicket.dev/snicket:1',
    tenant: {
      version: 'v1.36.0',
      clusterDomain: 'cluster.local',
      serviceAddresses: ['10.96.0.1'],
    },
  });
  const [one, ...others] = shown;
  if (one === undefined || others.length > 0) throw new Error('one Exposure has one plan');
  const findings = one.findings.map(
    ({ severity, code, message }) => `# ${severity}: ${code}: ${message}\n`,
  );
  return [...findings, planText(one, { only })].join('');
}

/** Returns the object with all objects that exist once its provider has reconciled it. */
function provided(object: KubeObject): readonly KubeObject[] {
  const { certificate, key } = authority;
  const files = { certificate, key, kubeconfig: kubeconfigFor };
  if (!isOfKind(PROVIDER_RESOURCES.k0smotronControlPlane, object))
    return [object, ...createdFor(object, files)];
  const [cluster] = shown('docs/tasks/providers/cluster-api.md', (one) =>
    isOfKind(PROVIDER_RESOURCES.capiCluster, one),
  );
  const { apiVersion, kind, metadata } = cluster!;
  const owner = { apiVersion, kind, name: metadata.name, uid: 'u' };
  const owned = { ...object, metadata: { ...object.metadata, ownerReferences: [owner] } };
  return [cluster!, owned, ...createdFor(owned, files)];
}

describe('docs/tasks/providers', () => {
  const overview = 'docs/tasks/providers/README.md';
  const [edge] = shown(overview, ofKind('Edge'));
  const asking = objects.filter(
    (one) =>
      one.page.startsWith('docs/tasks/providers/') &&
      one.object.metadata.annotations !== undefined &&
      one.object !== edge,
  );

  test('have an example of every provider', () => {
    expect(asking.map(({ heading }) => heading)).toEqual([
      ...['Cluster API', 'k0rdent', 'k0smotron', 'Kamaji', 'Steward'],
    ]);
  });

  test.each(asking.map(({ heading, object }) => [heading, object] as const))(
    '%s: what the annotation creates in the management cluster',
    async (_, object) => {
      expect(await planOf([edge!, ...provided(object)], 'management')).toMatchSnapshot();
    },
  );

  test('an Exposure with prepare: Report: what is to be put into git', async () => {
    const [exposure] = shown(overview, ofKind('Exposure'));
    const [annotated] = shown('docs/tasks/providers/kamaji.md', (object) =>
      isOfKind(PROVIDER_RESOURCES.kamaji, object),
    );
    const { annotations: _, ...metadata } = annotated!.metadata;
    const tenant = { ...annotated!, metadata };

    expect(await planOf([edge!, exposure!, ...provided(tenant)], 'management')).toMatchSnapshot();
  });
});

test.each(['docs/tasks/expose.md', 'docs/tasks/run-from-a-folder.md'])(
  '%s: the Exposure behind the Edge, in both clusters',
  async (page) => {
    const [edge] = shown(page, ofKind('Edge'));
    const [exposure] = shown(page, ofKind('Exposure'));
    const metadata = { namespace: 'default', ...exposure!.metadata };

    expect(await planOf([edge!, { ...exposure!, metadata }])).toMatchSnapshot();
  },
);

const EDGES: readonly DocumentedObject[] = objects.filter(
  ({ page, object }) => object.kind === 'Edge' && /edges|install|permissions/.test(page),
);

test.each(EDGES.map(({ page, heading, object }) => [`${page}, ${heading}`, object] as const))(
  '%s: the Exposure of docs/tasks/expose.md behind that Edge, in the management cluster',
  async (_, edge) => {
    const [exposure] = shown('docs/tasks/expose.md', ofKind('Exposure'));
    const { spec } = exposure as unknown as { readonly spec: object };
    // Most examples contain only what is specific to their driver.
    const hosts = { api: 'blue.k8s.example.com', konnectivity: 'blue.konnectivity.example.com' };
    const behind = {
      ...exposure!,
      spec: { ...spec, edgeRef: { name: edge.metadata.name }, hosts },
    };

    expect(await planOf([edge, behind], 'management')).toMatchSnapshot();
  },
);
