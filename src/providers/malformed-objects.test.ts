import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { findingText, type Finding } from '../api/finding.ts';
import type { KubeObject } from '../kube/object.ts';
import { leavesOf } from './preparation/field-path.ts';
import { pasteText } from './preparation/plan-preparation.ts';
import type { ProviderName } from './reading/control-plane-reading.ts';
import { planProvided } from './plan-provided.ts';
import { PROVIDERS } from './provider-for.ts';
import { publishedFindings } from './reading/published-server.ts';
import { shimFor } from './shims/shim.ts';
import {
  capiCluster,
  changed,
  clusterDeployment,
  k0smotronCluster,
  k0smotronControlPlane,
  kubeconfigFor,
  readyTenantControlPlane,
  secretOf,
  serviceOf,
  ownerFor,
} from './testing/provider-objects.ts';
import { objectsFrom } from './testing/provider-objects-source.ts';

const SPEC = {
  hosts: { api: 'blue.k8s.example.test', konnectivity: 'blue.konnectivity.example.test' },
  port: 443,
};

const MADE = [
  serviceOf('blue', { 'kube-apiserver': 6443, 'konnectivity-server': 8132 }),
  secretOf('blue-admin-kubeconfig', { 'admin.conf': kubeconfigFor('https://192.0.2.1:6443') }),
  secretOf('blue-ca', { 'ca.crt': 'no certificate' }),
];

/** The objects of a control plane of each provider. The first one is that of its Exposure. */
const WORLDS: Readonly<Record<ProviderName, readonly KubeObject[]>> = {
  kamaji: [readyTenantControlPlane('kamaji', 'blue'), ...MADE],
  steward: [readyTenantControlPlane('steward', 'blue'), ...MADE],
  k0smotron: [k0smotronCluster('red')],
  'capi-k0smotron': [
    k0smotronControlPlane('amber'),
    k0smotronCluster('amber'),
    capiCluster('amber'),
  ],
  k0rdent: [
    clusterDeployment('amber', 'openstack-hosted-cp-1-0-40'),
    ...[k0smotronControlPlane('amber'), k0smotronCluster('amber'), capiCluster('amber')],
  ],
};

/** Fields that a new object does not have. */
const MORE = [
  ...['hostname', 'ingressClassName', 'controllerType'].map(
    (f) => `spec.controlPlane.ingress.${f}`,
  ),
  ...['certSANs', 'address', 'advertiseAddress', 'serviceCidrs'].map(
    (f) => `spec.networkProfile.${f}`,
  ),
  ...['image', 'resources', 'hostAliases'].map((field) => `spec.addons.tcpProxy.${field}`),
  ...['apiHost', 'konnectivityHost', 'port', 'deploy', 'annotations'].map(
    (f) => `spec.ingress.${f}`,
  ),
  ...['apiHost', 'port'].map((field) => `spec.config.ingress.${field}`),
  ...['spec.controlPlane.deployment.extraArgs.apiServer', 'spec.controlPlane.gateway'],
  ...['spec.externalAddress', 'spec.patches', 'spec.controlPlaneFlags', 'spec.remoteHostCluster'],
  ...['spec.k0sConfig.spec.api.sans', 'spec.config.clusterName', 'spec.dryRun', 'status.region'],
];

const text = fc.constantFrom(
  ...['', '..', 'blue.k8s.example.test:443', '[::1]:443', '192.0.2.1', 'Blue.Example.', '*.test'],
  ...[
    'ünïcode.test',
    'v1.',
    'latest',
    'LoadBalancer',
    'traefik',
    '--disable-components',
    '\u202e\n',
  ],
  ...['h'.repeat(300), 'h'.repeat(5_000), `${'h'.repeat(5_000)}:443`],
);
const value = fc.oneof(
  fc.constantFrom(undefined, null, true, 0, -1, 1.5, 65_536, {}, [], [null], [{}]),
  text,
  fc.array(text, { maxLength: 4 }),
  fc.dictionary(fc.constantFrom('name', 'type', 'secretName'), text),
);

/** Returns the paths of all fields, and of all objects that contain fields. */
function pathsIn(object: KubeObject): readonly string[] {
  const leaves = leavesOf(object).map(([path]) => path);
  const blocks = leaves.flatMap((path) => path.map((_, index) => path.slice(0, index + 1)));
  const paths = blocks.filter(([first]) => first === 'spec' || first === 'status');
  return [...new Set([...paths.map((path) => path.join('.')), ...MORE])];
}

function isClear(finding: Finding): boolean {
  return !/undefined|NaN|\[object/.test(findingText(finding));
}

describe('a control plane with missing or malformed fields', () => {
  test.each(Object.entries(WORLDS))(
    'of %s is read and planned without an exception',
    async (name, world) => {
      const provider = PROVIDERS[name as ProviderName];
      const change = fc
        .nat(world.length - 1)
        .chain((index) =>
          fc.tuple(fc.constant(index), fc.constantFrom(...pathsIn(world[index]!)), value),
        )
        // The API server validates Services and Secrets, so these stay as they are.
        .filter(([index]) => world[index]?.apiVersion !== 'v1');
      await fc.assert(
        fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 4 }), async (changes) => {
          const objects = changes.reduce(
            (all, [index, path, next]) => all.with(index, changed(all[index]!, { [path]: next })),
            world,
          );
          const [object] = objects;

          const { findings, provided } = await provider.read(object!, objectsFrom(objects));
          const plans =
            provided === undefined ? [] : planProvided(provided, SPEC, ownerFor('blue'));
          const annotations = { 'snicket.dev/edge': 'shared' };
          const asking = { ...object!, metadata: { ...object!.metadata, annotations } };
          const shim = shimFor(asking, { ingressNames: new Set(), edgePort: 443 });

          const all = [
            ...[...findings, ...plans.flatMap((plan) => plan.findings), ...(shim?.findings ?? [])],
            ...(provided === undefined ? [] : publishedFindings(provided, SPEC, 'Patch')),
          ];
          expect(all.filter((finding) => !isClear(finding))).toEqual([]);
          expect(provided?.phaseReason).not.toMatch(/undefined|NaN/);
          for (const plan of plans) expect(pasteText(plan)).toContain(plan.live.metadata.name);
        }),
        { numRuns: 150 },
      );
    },
  );
});
