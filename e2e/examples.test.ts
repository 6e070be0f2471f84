/**
 * Tests every object in the documentation on a real API server, with reduced CRDs of other projects, and with the real
 * CRDs if they are available. Then tests an operator with each of these control planes: applying the YAML of `prepare:
 * Report` has the same result as `prepare: Patch`, and cleanup restores the control plane.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { existsSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { stringify } from 'yaml';
import { documentedObjects } from '../src/api/testing/documented-objects.ts';
import type { KubeObject } from '../src/kube/object.ts';
import { providerFor } from '../src/providers/provider-for.ts';
import { isOfKind, PROVIDER_RESOURCES } from '../src/providers/provider-resources.ts';
import { REAL_DEFINITIONS, smallDefinitions } from '../src/providers/testing/definitions.ts';
import { changed } from '../src/providers/testing/provider-objects.ts';
import { terminalProgress } from '../world/parts/progress.ts';
import { installDefinitions, parseDefinition } from '../world/providers/definitions.ts';
import { repository } from '../world/repository.ts';
import { World } from '../world/world.ts';
import { createWithProvider, ownedByCluster, remove, renderChart } from './simulated-provider.ts';
import { resourceText, type ProvidedControlPlane } from './provided-control-plane.ts';

const { objects, others } = documentedObjects();
const GUIDE = objects.filter(({ page }) => page.startsWith('docs/tasks/providers/'));

/** Control planes of users without Snicket: the objects of the examples without annotations. */
const CONTROL_PLANES = GUIDE.filter(({ object }) => providerFor(object) !== undefined).map(
  ({ heading, object }) => {
    const { annotations: _, ...metadata } = object.metadata;
    return [heading, { ...object, metadata }] as const;
  },
);

const [KAMAJI, K0SMOTRON] = ['Kamaji', 'k0smotron'].map((heading) =>
  CONTROL_PLANES.find((example) => example[0] === heading),
);
const USER_ARGUMENTS = ['--comment=user-entry'];
/** The same control planes with entries of the user in all lists that Snicket writes to. */
const WITH_ENTRIES = [
  [
    KAMAJI![0],
    changed(KAMAJI![1], {
      'spec.networkProfile.certSANs': ['user-entry'],
      'spec.controlPlane.deployment.extraArgs.apiServer': USER_ARGUMENTS,
      'spec.addons.konnectivity.agent.extraArgs': USER_ARGUMENTS,
    }),
  ],
  [
    K0SMOTRON![0],
    changed(K0SMOTRON![1], {
      'spec.patches': [
        {
          target: { kind: 'StatefulSet', component: 'control-plane' },
          patch: { type: 'merge', content: 'metadata: {labels: {of: user-entry}}' },
        },
      ],
    }),
  ],
] as const;

test('these are all other YAML examples in the documentation', () => {
  expect(others.toSorted()).toEqual([
    'docs/reference/address.md: initContainers',
    'docs/reference/gateway.md: routes',
    'docs/tasks/install.md: images',
    'docs/tasks/run-from-a-folder.md: files',
    'docs/tasks/run-from-a-folder.md: files',
  ]);
});

const DEFINITIONS = [
  ['reduced', smallDefinitions()],
  ['real', smallDefinitions().map((path) => join(REAL_DEFINITIONS, basename(path)))],
] as const;

for (const [origin, paths] of DEFINITIONS) {
  const missing = paths.filter((path) => !existsSync(path)).map((path) => basename(path));
  const skipText =
    missing.length === 0 ? '' : ` (skipped: ${REAL_DEFINITIONS} has no ${missing.join(', ')})`;
  describe.skipIf(missing.length > 0)(`with ${origin} definitions${skipText}`, () => {
    let world: World;

    beforeAll(async () => {
      world = await World.start({ management: { workers: 0 } }, { progress: terminalProgress() });
      const { management } = world;
      const snicketCrds = ['edges.yaml', 'exposures.yaml', 'tenantroutes.yaml'].map((name) =>
        join(repository, 'deploy', 'crds', name),
      );
      const definitions = [...paths, ...snicketCrds].map((path) =>
        parseDefinition(readFileSync(path, 'utf8')),
      );
      await installDefinitions(management, definitions);
      const named = objects.flatMap(({ object }) => object.metadata.namespace ?? []);
      for (const name of new Set([...named, 'snicket-system'])) {
        await management.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
      }
    });

    afterAll(async () => world?.stop());

    const documented = objects.map(
      (example) =>
        [`${example.page}, ${example.heading}: ${example.object.kind}`, example] as const,
    );
    test.each(documented)(
      'the API server accepts and stores all fields of %s',
      async (_, { page, object }) => {
        // Each page has its own Edges and Exposures. Some objects of other projects extend those of another page.
        if (object.apiVersion.startsWith('snicket.dev/')) await remove(world.management, object);
        const manager = `--field-manager=${basename(page, '.md')}`;
        const args = ['apply', '--server-side', '--force-conflicts', '--validate=strict', manager];
        // Compares the response to the apply, because the API server soon overwrites the slice of its own Service.
        const stored = await world.management.controlPlane.kubectl(
          [...args, '--warnings-as-errors', '--output=json', '--filename=-'],
          stringify(object, { compat: 'yaml-1.1' }),
        );

        expect(JSON.parse(stored)).toMatchObject({ ...object });
      },
    );

    describe('and an operator', () => {
      beforeAll(async () => {
        const { management } = world;
        const kinds = CONTROL_PLANES.map(([, object]) => resourceText(object)).join();
        await management.kubectl('delete', `edges,exposures,${kinds}`, '--all', '--all-namespaces');
        const [edge] = GUIDE.filter(({ object }) => object.kind === 'Edge');
        const { spec } = edge!.object as unknown as { readonly spec: object };
        // Simulates the address of the gateway.
        await management.apply({ ...edge!.object, spec: { ...spec, addresses: ['192.0.2.1'] } });
        const { host } = await world.addHost('operator');
        // The Services of these control planes have no endpoints. The route lets the operator's dials fail at once.
        await host.exec(['ip', 'route', 'add', 'unreachable', management.plan.serviceCidr]);
        await host.start('operator', [
          ...[
            join(repository, 'snicket'),
            'operator',
            `--kubeconfig=${management.controlPlane.kubeconfig}`,
          ],
          ...['--http=off', '--cleanup-timeout=1s', '--log-level=debug'],
        ]);
      });

      describe.each(CONTROL_PLANES)('%s', (_, object) => {
        const hasChart = isOfKind(PROVIDER_RESOURCES.clusterDeployment, object);
        let controlPlane: ProvidedControlPlane;
        let before: readonly unknown[];
        let byHand: readonly unknown[];

        beforeAll(async () => {
          controlPlane = await createControlPlane(object);
          before = await controlPlane.fields();
        });

        test('prepare: Report writes nothing', async () => {
          await controlPlane.expose('shared', 'Report');

          await controlPlane.until('Prepared', 'False PreparationRequired');
          expect(await controlPlane.fields()).toEqual(before);
        });

        test('applying the report by hand is sufficient', async () => {
          const yaml = await controlPlane.report();
          await world.management.controlPlane.kubectl(
            ['apply', '--server-side', '--field-manager=git', '--filename=-'],
            yaml,
          );
          if (hasChart) await renderChart(world.management, object);

          await controlPlane.until('Prepared', 'True');
          byHand = await controlPlane.fields();
          await controlPlane.unexpose();
          expect(await controlPlane.fields()).toEqual(byHand);
          expect(byHand).not.toEqual(before);
        });

        test('an annotation has the same result', async () => {
          controlPlane = await createControlPlane(object);

          await controlPlane.annotate('snicket.dev/edge=shared');

          if (hasChart) {
            await controlPlane.until('Prepared', 'False ChartValuesUnconfirmed');
            await renderChart(world.management, object);
          }
          await controlPlane.until('Prepared', 'True');
          expect((await controlPlane.fields()).map(specOf)).toEqual(byHand.map(specOf));
        });

        test('removing the annotation restores every field', async () => {
          await controlPlane.annotate('snicket.dev/edge-');

          await controlPlane.unexposed();
          if (hasChart) await renderChart(world.management, object);
          expect(await controlPlane.fields()).toEqual(before);
          expect(await controlPlane.managers()).not.toContain('snicket');
        });
      });

      test.each(WITH_ENTRIES)(
        '%s: entries of the user stay in the lists, also after cleanup',
        async (_, object) => {
          const controlPlane = await createControlPlane(object);
          const before = await controlPlane.fields();
          await controlPlane.annotate('snicket.dev/edge=shared');
          await controlPlane.until('Prepared', 'False FieldConflict');
          expect((await controlPlane.fields()).map(specOf)).toEqual(before.map(specOf));

          await controlPlane.change({ prepare: 'Force' });

          await controlPlane.until('Prepared', 'True');
          const forced = JSON.stringify(await controlPlane.fields());
          expect(forced).toContain('tenants-');
          expect(forced.match(/user-entry/g)).toHaveLength(
            JSON.stringify(before).match(/user-entry/g)!.length,
          );
          await controlPlane.annotate('snicket.dev/edge-');
          await controlPlane.unexposed();
          expect(await controlPlane.fields()).toEqual(before);
          expect(await controlPlane.managers()).not.toContain('snicket');
        },
      );
    });

    async function createControlPlane(object: KubeObject): Promise<ProvidedControlPlane> {
      const { management } = world;
      const [cluster] = GUIDE.filter((example) =>
        isOfKind(PROVIDER_RESOURCES.capiCluster, example.object),
      );
      const isOwned = isOfKind(PROVIDER_RESOURCES.k0smotronControlPlane, object);
      const complete = isOwned ? await ownedByCluster(management, object, cluster!.object) : object;
      const { authority } = management.controlPlane;
      return createWithProvider(management, complete, {
        certificate: authority.certificate,
        key: authority.key,
        kubeconfig: (server) => management.controlPlane.kubeconfigFor(server),
      });
    }
  });
}

function specOf(fields: unknown): unknown {
  return (fields as { readonly spec: unknown }).spec;
}
