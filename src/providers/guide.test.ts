import { describe, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { hostsOf } from '../api/hosts.ts';
import { parseEdgeStrictly, parseExposureStrictly } from '../api/objects.ts';
import type { KubeObject } from '../kube/object.ts';
import { ownerFor } from './testing/provider-objects.ts';
import { planProvided } from './plan-provided.ts';
import type { PreparationPlan } from './preparation/plan-preparation.ts';
import { pathText } from './preparation/preparation.ts';
import { providerFor, providerForReference } from './provider-for.ts';
import { isOfKind, PROVIDER_RESOURCES } from './provider-resources.ts';
import { shimFor } from './shims/shim.ts';

// Parses every example in docs/tasks/providers and plans it as the operator would.

const GUIDE = join(import.meta.dir, '../../docs/tasks/providers');
/** One page per provider. */
const PAGES = ['kamaji', 'steward', 'k0smotron', 'cluster-api', 'k0rdent'] as const;

const overview = pageText('README');
const objects = [overview, ...PAGES.map(pageText)].flatMap(exampleObjects);
const [edge] = objects.filter(({ kind }) => kind === 'Edge').map(parseEdgeStrictly);

function pageText(name: string): string {
  return readFileSync(join(GUIDE, `${name}.md`), 'utf8');
}

/** Returns the objects in the examples, without those that are abridged with `...`. */
function exampleObjects(text: string): readonly KubeObject[] {
  return [...text.matchAll(/```yaml\n(.*?)```/gs)]
    .filter(([, block = '']) => !/^\.\.\.$/m.test(block))
    .flatMap(([, block = '']) =>
      parseAllDocuments(block).map((document) => {
        expect(document.errors).toEqual([]);
        return document.toJS() as KubeObject;
      }),
    );
}

/** Returns the plans for an annotated example. */
function plansOf(object: KubeObject): readonly PreparationPlan[] {
  const exposure = parseExposureStrictly(
    shimFor(object, { ingressNames: new Set(), edgePort: 443 })?.exposure,
  );
  const hosts = hostsOf(exposure, edge!, {});
  if ('code' in hosts) throw new Error(hosts.message);
  const { name } = providerFor(object)!;
  const spec = { hosts, port: edge!.spec.port };
  return planProvided({ provider: name, objects: [object] }, spec, ownerFor('any'));
}

describe('docs/tasks/providers', () => {
  const sections = PAGES.flatMap((page) => {
    const text = pageText(page);
    const annotated = exampleObjects(text).find(
      (object) => providerFor(object) !== undefined && object.metadata.annotations !== undefined,
    );
    return annotated === undefined ? [] : [[page, { text, annotated }] as const];
  });

  test('has an example for every provider', () => {
    const kinds = sections.map(([, { annotated }]) => providerFor(annotated)?.name);

    expect(kinds).toEqual(['kamaji', 'steward', 'k0smotron', 'capi-k0smotron', 'k0rdent']);
  });

  test.each(sections)('%s: the example can be prepared without findings', (_, { annotated }) => {
    const findings = plansOf(annotated).flatMap((plan) => plan.findings);

    expect(findings).toEqual([]);
  });

  test.each(sections)('%s: the table lists exactly the fields that Snicket sets', (_, section) => {
    const written = plansOf(section.annotated).flatMap(({ fields }) =>
      fields.map(({ path }) => pathText(path).slice(1)),
    );

    const documented = [...section.text.matchAll(/^\| `(spec\.[^`]+)` \|/gm)].map(
      ([, path]) => path!,
    );
    expect(documented.toSorted()).toEqual(written.toSorted());
  });

  test('contains valid Exposures', () => {
    const [exposure] = objects.filter(({ kind }) => kind === 'Exposure').map(parseExposureStrictly);

    expect(exposure?.spec.prepare).toBe('Report');
    expect(providerForReference(exposure!.spec.controlPlane.objectRef!)?.name).toBe('kamaji');
  });

  test('has no annotated Cluster of Cluster API', () => {
    const clusters = objects.filter((object) => isOfKind(PROVIDER_RESOURCES.capiCluster, object));

    expect(clusters.map((cluster) => shimFor(cluster, { ingressNames: new Set() }))).toEqual([
      undefined,
    ]);
  });
});
