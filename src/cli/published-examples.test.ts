/**
 * The YAML blocks of public documents on control planes behind an ingress, as files of `snicket render -f`.
 */
import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import type { ApiObject } from '../kube/store/object-store.ts';
import { ManagementSnapshot } from '../management/management-snapshot.ts';
import { textAt } from '../kube/unstructured.ts';
import { objectOf } from '../operator/testing/objects.ts';
import { ALL_KINDS, OperatorLab } from '../operator/testing/operator-lab.ts';
import { makeCa } from '../pki/testing/test-ca.ts';
import { providerFor } from '../providers/provider-for.ts';
import {
  inPreferredVersion,
  isOfKind,
  PROVIDER_RESOURCES,
} from '../providers/provider-resources.ts';
import { createdFor } from '../providers/testing/created-objects.ts';
import { kubeconfigFor } from '../providers/testing/provider-objects.ts';
import { requestedExposures, withOwners } from './sources/requested-exposures.ts';
import type { KubeObject } from '../kube/object.ts';
import { withBlock, type PublishedValue } from '../providers/testing/published-manifests.ts';
import { publishedExamples, type PublishedExample } from './testing/published-examples.ts';
import { Terminal } from './testing/snicket.ts';
import { documentsIn } from './testing/yaml-objects.ts';

setDefaultTimeout(240_000);

const PAGE = join(import.meta.dir, '..', '..', 'docs/tasks/providers/published-examples.md');
const EXAMPLES = publishedExamples();

describe.each(Object.entries(Object.groupBy(EXAMPLES, ({ document }) => document)))(
  '%s',
  (_, examples = []) => {
    test.each(examples.map((example) => [example.block, example] as const))(
      '%s: render -f has the documented outcome',
      async (_, { objects, exitCode, codes }) => {
        using terminal = new Terminal();
        const files = objects.map((object) => stringify(object)).join('---\n');

        const rendered = await terminal.snicket(['render', '-f', '-'], files);

        expect({ exitCode: rendered.exitCode, codes: codesIn(rendered.stderr) }).toEqual({
          exitCode,
          codes: [...codes],
        });
      },
    );
  },
);

describe('render from a cluster with the same objects has the same outcome', () => {
  const kinds = [...ALL_KINDS, ...Object.values(PROVIDER_RESOURCES)];
  const kindOf = (object: KubeObject) => kinds.find((kind) => isOfKind(kind, object));
  const authority = makeCa();
  // In a cluster, the uid of the TenantControlPlane is another one than in the name of this Ingress.
  const compared = EXAMPLES.filter(
    ({ exitCode, block }) => exitCode !== 2 && block !== 'Ingress that the addon creates',
  );

  test.each(compared.map((example) => [example.document, example.block, example] as const))(
    '%s: %s',
    async (_document, _block, { objects, exitCode, codes }) => {
      const { certificate, key } = await authority;
      await using lab = await OperatorLab.start({
        hasSockets: true,
        isOperatorRunning: false,
        resources: kinds,
      });
      lab.management.seed(objectOf('Namespace', { name: 'kcm-system' }), ingressClass(objects));
      const apply = async (object: KubeObject) => {
        const resource = kindOf(object);
        const { apiVersion = '' } = resource ?? {};
        return resource && lab.user.apply({ ...object, apiVersion }, { resource });
      };
      const written = withOwners((objects as readonly KubeObject[]).map(inPreferredVersion));
      const applied = (await Promise.all(written.map(apply))).filter((one) => one !== undefined);

      // What providers create. The control plane of a chart is among the objects, or does not exist yet.
      const provided = applied.filter((one) => providerFor(one) !== undefined);
      const hasControlPlane = provided.some(({ kind }) => kind === 'K0smotronControlPlane');
      for (const object of provided) {
        const isDeployment = isOfKind(PROVIDER_RESOURCES.clusterDeployment, object);
        if (isDeployment && hasControlPlane) continue;
        // Kamaji creates the kubeconfig with the host of its ingress.
        const host = textAt(object, 'spec', 'controlPlane', 'ingress', 'hostname');
        const kubeconfig = (server: string) =>
          kubeconfigFor(host === undefined ? server : `https://${host}`);
        const files = { certificate, key, kubeconfig };
        const created = createdFor(object, files).filter((one) => providerFor(one) === undefined);
        await Promise.all(created.map(apply));
      }
      const snapshot = await ManagementSnapshot.read(lab.user, AbortSignal.timeout(200_000));
      await Promise.all(requestedExposures(provided, snapshot).exposures.map(apply));
      using terminal = new Terminal(lab.management);

      const rendered = await terminal.snicket(['render', '-A', '--only', 'management']);

      expect({ exitCode: rendered.exitCode, codes: codesIn(rendered.stderr) }).toEqual({
        exitCode,
        codes: [...codes],
      });
    },
  );
});

/** IngressClass `haproxy` of the controller that the driver of the Edge configures. */
function ingressClass([edge]: PublishedExample['objects']): ApiObject {
  const isCommunity = textAt(edge, 'spec', 'driver') === 'haproxy-ingress';
  const controller = isCommunity
    ? 'haproxy-ingress.github.io/controller'
    : 'haproxy.org/ingress-controller';
  return objectOf('IngressClass', { name: 'haproxy' }, { spec: { controller } });
}

describe("Kamaji's addon", () => {
  const blockOf = (title: string) =>
    EXAMPLES.find(({ document, block }) => document.startsWith('Kamaji') && block === title);
  const rendered = async (objects: readonly object[]) => {
    using terminal = new Terminal();
    const files = objects.map((object) => stringify(object)).join('---\n');
    const { stdout } = await terminal.snicket(['render', '-f', '-', '--only', 'management'], files);
    return documentsIn(stdout);
  };
  const [ingress] = (blockOf('Ingress that the addon creates')?.objects ?? []).slice(-1);
  const whole = blockOf('All blocks in one TenantControlPlane')?.objects ?? [];

  test('creates an Ingress like the one of Snicket', async () => {
    const found = (await rendered(whole)).find(({ kind }) => kind === 'Ingress');

    const { metadata, spec } = found as KubeObject & { readonly spec?: unknown };
    expect(spec).toEqual((ingress as { readonly spec?: unknown } | undefined)?.spec);
    expect({ annotations: metadata.annotations, namespace: metadata.namespace }).toEqual({
      annotations: { 'haproxy.org/ssl-passthrough': 'true' },
      namespace: 'tenants',
    });
  });

  test('needs the fields that the document lists, and Snicket changes none of them', async () => {
    const [tenant] = await rendered(whole);

    expect(whole[1]).toMatchObject({ spec: (tenant as unknown as { readonly spec: object }).spec });
  });

  test('has a konnectivity rule only with konnectivity', async () => {
    const [edge, tenant] = blockOf('Annotation')?.objects ?? [];
    const found = (await rendered([edge!, tenant!])).find(({ kind }) => kind === 'Ingress');

    expect(found).toMatchObject({
      spec: { rules: [{ host: 'tenants-tenant-00.k8s.example.cloud' }] },
    });
  });

  test('supports port 443 only, and Snicket any port of the edge', async () => {
    const [edge, ,] = whole;
    const [, tenant] = blockOf('Annotation')?.objects ?? [];
    const objects = [
      withBlock(edge as PublishedValue, { spec: { port: 8443 } }),
      withBlock(tenant as PublishedValue, { spec: { addons: { konnectivity: {} } } }),
    ];

    const [prepared] = await rendered(objects);

    expect(prepared).toMatchObject({
      spec: {
        controlPlane: { ingress: { hostname: 'tenants-tenant-00.k8s.example.cloud:8443' } },
        addons: {
          konnectivity: {
            agent: {
              extraArgs: [
                '--proxy-server-host=tenants-tenant-00.konnectivity.example.cloud',
                '--proxy-server-port=8443',
              ],
            },
          },
        },
      },
    });
  });
});

test('the page has the outcome of every example', () => {
  const page = readFileSync(PAGE, 'utf8');
  const [, ...rows] = /^\| document \| block .*\n((?:\|.*\n)+)/m.exec(page)?.[1]?.split('\n') ?? [];

  expect(rows.filter((row) => row !== '')).toEqual(EXAMPLES.map(rowOf));
});

function rowOf({ document, block, codes, outcome }: PublishedExample): string {
  const listed = codes.map((code) => `\`${code}\``).join(', ');
  return `| ${document} | ${block} | ${outcome} | ${listed} |`;
}

/** Returns the codes of errors and warnings, each once. */
function codesIn(stderr: string): readonly string[] {
  const found = stderr.matchAll(/^(?:error|warning): \S+: (?<code>[A-Za-z0-9]+): /gm);
  return [...new Set([...found].map(({ groups }) => groups?.['code'] ?? ''))].toSorted();
}
