/**
 * The steps of docs/tasks/migrate, with simulated providers: when there are routes, when the provider's object is
 * changed, and what a user has to change.
 */
import { expect, setDefaultTimeout, test } from 'bun:test';
import { RESOURCES } from '../../kube/resource.ts';
import { PROVIDER_RESOURCES } from '../../providers/provider-resources.ts';
import { TENANTS } from '../testing/namespaces.ts';
import { NON_EDGE_KINDS } from '../testing/operator-lab.ts';
import {
  addK0smotron,
  addKamaji,
  addSteward,
  REQUESTS_EDGE,
  startProvidedLab,
} from '../testing/provided-lab.ts';

setDefaultTimeout(240_000);

const { kamaji: KAMAJI, steward: STEWARD, k0smotron: K0SMOTRON } = PROVIDER_RESOURCES;
const NO_RECONCILER = ['--endpoint-reconciler-type=none'];

test('Steward: routes exist before its proxy is removed, and the user makes all changes', async () => {
  await using lab = await startProvidedLab();
  const green = { name: 'green', namespace: TENANTS };
  const host = 'green.k8s.example.test';
  await addSteward(lab, 'green', {
    'spec.controlPlane.ingress': {
      hostname: host,
      ingressClassName: 'traefik',
      controllerType: 'traefik',
    },
    'spec.networkProfile.certSANs': [host, 'green.konnectivity.example.test'],
    'spec.addons.tcpProxy': {},
  });
  const specOf = () => (lab.management.read(STEWARD, green) as { readonly spec?: object }).spec;
  const before = specOf();

  await lab.user.patch(STEWARD, green, 'merge', { metadata: { annotations: REQUESTS_EDGE } });

  await lab.untilCondition('green', 'Prepared', /^False ProviderFeatureConflict/);
  await lab.until('there are routes', () => lab.routesOf('green').length === 2);
  expect(lab.routesOf('green').map((route) => route.host)).toContain(host);
  expect(specOf()).toEqual(before);

  await lab.user.patch(STEWARD, green, 'merge', {
    spec: {
      controlPlane: {
        ingress: { ingressClassName: 'snicket-unhandled', controllerType: 'generic' },
        deployment: { extraArgs: { apiServer: NO_RECONCILER } },
      },
      addons: { tcpProxy: null },
    },
  });

  await lab.untilCondition('green', 'Prepared', /^True/);
  await lab.untilCondition('green', 'WorkersReady', /^True/);

  // The way back: Steward's route exists again, and then Snicket's is removed.
  await lab.user.patch(STEWARD, green, 'merge', {
    spec: { controlPlane: { ingress: { ingressClassName: 'traefik', controllerType: 'traefik' } } },
  });
  await lab.untilCondition('green', 'Prepared', /^False FieldConflict/);
  await lab.untilCondition('green', 'WorkersReady', /^True/);
  expect(lab.routesOf('green')).toHaveLength(2);
  const removed = { annotations: { 'snicket.dev/edge': null } };
  await lab.user.patch(STEWARD, green, 'merge', { metadata: removed });
  await lab.until('the Exposure is gone', () => lab.exposure('green') === undefined);
  expect(specOf()).toMatchObject({ controlPlane: { ingress: { ingressClassName: 'traefik' } } });
});

test("Kamaji's addon: nothing happens without a default Edge, and no field changes with one", async () => {
  // Snicket must know that no IngressClass `unhandled` exists.
  await using lab = await startProvidedLab({
    resources: [...NON_EDGE_KINDS, ...Object.values(PROVIDER_RESOURCES), RESOURCES.ingressClass],
  });
  const blue = { name: 'blue', namespace: TENANTS };
  const api = 'tenants-blue.k8s.example.test';
  const konnectivity = 'tenants-blue.konnectivity.example.test';
  await addKamaji(lab, 'blue', {
    'metadata.annotations': { 'kamaji.clastix.io/ingress.domain': 'example.test' },
    'spec.controlPlane.ingress': { hostname: `${api}:443`, ingressClassName: 'unhandled' },
    'spec.controlPlane.deployment.extraArgs.apiServer': NO_RECONCILER,
    'spec.networkProfile.certSANs': [api, konnectivity],
    'spec.addons.konnectivity.agent.extraArgs': [
      `--proxy-server-host=${konnectivity}`,
      '--proxy-server-port=443',
    ],
  });
  const specOf = () => (lab.management.read(KAMAJI, blue) as { readonly spec?: object }).spec;
  const before = specOf();
  const condition = await lab.untilCondition('blue', 'Accepted', /^False EdgeNotFound/);
  expect(condition).toContain(
    'The annotation kamaji.clastix.io/ingress.domain of TenantControlPlane tenants/blue uses the default Edge',
  );
  expect(lab.routesOf('blue')).toEqual([]);

  await lab.user.patch(KAMAJI, blue, 'merge', { metadata: { annotations: REQUESTS_EDGE } });

  await lab.untilCondition('blue', 'Prepared', /^True/);
  await lab.untilCondition('blue', 'WorkersReady', /^True/);
  expect(lab.routesOf('blue').map((route) => route.host)).toEqual([api, konnectivity]);
  expect(specOf()).toEqual(before);

  // The way back.
  await lab.user.patch(RESOURCES.edge, { name: 'shared' }, 'merge', {
    spec: { annotations: 'Ignored' },
  });
  await lab.until('the Exposure is gone', () => lab.exposure('blue') === undefined);
  expect(specOf()).toEqual(before);
});

test("Kamaji's addon: its annotation alone exposes a tenant at a default Edge", async () => {
  await using lab = await startProvidedLab();
  await addKamaji(lab, 'blue', {
    'metadata.annotations': { 'kamaji.clastix.io/ingress.domain': 'example.test' },
    'spec.addons.konnectivity': undefined,
  });
  await lab.untilCondition('blue', 'Accepted', /^False EdgeNotFound/);

  await lab.change(RESOURCES.edge, 'shared', {
    metadata: { annotations: { 'snicket.dev/is-default': 'true' } },
  });

  await lab.untilCondition('blue', 'WorkersReady', /^True/);
  // The tenant has no konnectivity, and so no host for it.
  expect(lab.routesOf('blue').map(({ host }) => host)).toEqual(['tenants-blue.k8s.example.test']);
});

test('k0smotron: the user disables its Ingress, and Snicket its proxy', async () => {
  await using lab = await startProvidedLab();
  const red = { name: 'red', namespace: TENANTS };
  await addK0smotron(lab, 'red', {
    'spec.ingress': {
      deploy: true,
      apiHost: 'kube-api.example.test',
      konnectivityHost: 'konnectivity.example.test',
      className: 'haproxy',
      port: 443,
    },
  });
  await lab.user.patch(K0SMOTRON, red, 'merge', { metadata: { annotations: REQUESTS_EDGE } });
  await lab.untilCondition('red', 'Prepared', /^False FieldConflict/);
  expect(lab.routesOf('red').map((route) => route.host)).toContain('kube-api.example.test');

  await lab.user.patch(K0SMOTRON, red, 'merge', { spec: { ingress: { deploy: false } } });

  await lab.untilCondition('red', 'Prepared', /^True/);
  await lab.untilCondition('red', 'WorkersReady', /^True/);
  expect(JSON.stringify(lab.management.read(K0SMOTRON, red))).toContain('2_haproxy-ds.yaml');

  // The way back.
  await lab.user.patch(K0SMOTRON, red, 'merge', { spec: { ingress: { deploy: true } } });
  await lab.untilCondition('red', 'Prepared', /^False FieldConflict/);
  const removed = { annotations: { 'snicket.dev/edge': null } };
  await lab.user.patch(K0SMOTRON, red, 'merge', { metadata: removed });
  await lab.until('the Exposure is gone', () => lab.exposure('red') === undefined);
  expect(JSON.stringify(lab.management.read(K0SMOTRON, red))).not.toContain('2_haproxy-ds.yaml');
});
