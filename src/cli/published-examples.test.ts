/**
 * The YAML blocks of public documents on control planes behind an ingress, as files of `snicket render -f`.
 */
import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
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
