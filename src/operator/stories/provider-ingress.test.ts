import { expect, setDefaultTimeout, test } from 'bun:test';
import { RESOURCES } from '../../kube/resource.ts';
import type { ApiObject } from '../../kube/store/object-store.ts';
import { valueAt } from '../../kube/unstructured.ts';
import { PROVIDER_RESOURCES } from '../../providers/provider-resources.ts';
import { LAB_EDGES } from '../testing/edges.ts';
import { objectOf } from '../testing/objects.ts';
import { TENANTS } from '../testing/namespaces.ts';
import { ALL_KINDS, type OperatorLab } from '../testing/operator-lab.ts';
import { addK0smotron, REQUESTS_EDGE, startProvidedLab } from '../testing/provided-lab.ts';

setDefaultTimeout(240_000);

const { k0smotron: K0SMOTRON } = PROVIDER_RESOURCES;
const HOSTS = { apiHost: 'red.example.test', konnectivityHost: 'red-konnectivity.example.test' };
const PASSTHROUGH = { 'haproxy.org/ssl-passthrough': 'true' };

/** A lab with an Edge of class `haproxy`, and Cluster `red` with its own Ingress of this class. */
async function startLab(className: string): Promise<OperatorLab> {
  const { spec, objects } = LAB_EDGES.haproxy;
  const lab = await startProvidedLab({
    edge: { ...spec, domain: 'example.test' },
    resources: [...ALL_KINDS, ...Object.values(PROVIDER_RESOURCES)],
  });
  lab.management.seed(...objects);
  await addK0smotron(lab, 'red', {
    'metadata.annotations': REQUESTS_EDGE,
    'spec.ingress': { ...HOSTS, className, deploy: true, port: 443, annotations: PASSTHROUGH },
  });
  return lab;
}

/** The Ingress that k0smotron creates. */
function ingressOfK0smotron(): ApiObject {
  const rules = Object.values(HOSTS).map((host) => ({ host }));
  return objectOf(
    'Ingress',
    { name: 'kmc-red', namespace: TENANTS, annotations: PASSTHROUGH },
    {
      apiVersion: RESOURCES.ingress.apiVersion,
      spec: { ingressClassName: 'haproxy', rules },
    },
  );
}

/** Whether Snicket has created a route of its own. */
function hasOwnRoute(lab: OperatorLab): boolean {
  return lab.read(RESOURCES.ingress, 'snicket-red.haproxy') !== undefined;
}

test('an Ingress of k0smotron with the class of the Edge is the route', async () => {
  await using lab = await startLab('haproxy');

  await lab.untilCondition('red', 'Routed', /^False .*Ingress tenants\/kmc-red does not exist/);
  lab.management.seed(ingressOfK0smotron());

  await lab.untilCondition('red', 'Routed', /^Unknown NoStatus/);
  const status = { loadBalancer: { ingress: [{ ip: '192.0.2.77' }] } };
  const key = { name: 'kmc-red', namespace: TENANTS };
  const options = { subresource: 'status' } as const;
  await lab.user.patch(RESOURCES.ingress, key, 'merge', { status }, options);

  const routed = await lab.untilCondition('red', 'Routed', /^True/);
  expect(routed).toContain('True Admitted: the controller serves it at 192.0.2.77');
  const prepared = await lab.untilCondition('red', 'Prepared', /^True/);
  expect(prepared).not.toContain('HostClaimed');
  await lab.untilCondition('red', 'WorkersReady', /^True/);
  expect(hasOwnRoute(lab)).toBe(false);
  expect(
    lab
      .routesOf('red')
      .map(({ host }) => host)
      .toSorted(),
  ).toEqual(Object.values(HOSTS).toSorted());
  // The field belongs to its user, with whom Snicket has no conflict.
  expect(valueAt(lab.read(K0SMOTRON, 'red'), 'spec', 'ingress', 'deploy')).toBe(true);
});

test('an Ingress of k0smotron with another class is not the route', async () => {
  await using lab = await startLab('nginx');

  const prepared = await lab.untilCondition('red', 'Prepared', /^False FieldConflict/);
  expect(prepared).toContain('owns .spec.ingress.deploy (true, desired false)');
  await lab.until('the route of Snicket', () => hasOwnRoute(lab));

  // The one line to change.
  await lab.change(K0SMOTRON, 'red', { spec: { ingress: { className: 'haproxy' } } });

  await lab.untilCondition('red', 'Prepared', /^True/);
  await lab.until('no route of Snicket', () => !hasOwnRoute(lab));
});

test('the Ingress of k0smotron is a claim of others once its user turns it off', async () => {
  await using lab = await startLab('haproxy');
  lab.management.seed(ingressOfK0smotron());
  await lab.untilCondition('red', 'WorkersReady', /^True/);

  await lab.change(K0SMOTRON, 'red', { spec: { ingress: { deploy: false } } });

  await lab.until('the route of Snicket', () => hasOwnRoute(lab));
  await lab.untilCondition('red', 'Routed', /HostClaimed: .*Ingress tenants\/kmc-red/);
});

test.each([
  ['without TLS passthrough', { metadata: { annotations: null } }],
  ['of another class', { spec: { ingressClassName: 'nginx' } }],
  ['without the konnectivity host', { spec: { rules: [{ host: HOSTS.apiHost }] } }],
])('an existing Ingress of k0smotron %s is no route', async (_, change) => {
  await using lab = await startLab('haproxy');
  lab.management.seed(ingressOfK0smotron());
  const key = { name: 'kmc-red', namespace: TENANTS };
  await lab.user.patch(RESOURCES.ingress, key, 'merge', change);
  const status = { loadBalancer: { ingress: [{ ip: '192.0.2.77' }] } };
  const options = { subresource: 'status' } as const;
  await lab.user.patch(RESOURCES.ingress, key, 'merge', { status }, options);

  const routed = await lab.untilCondition('red', 'Routed', /^False NotReconciled/);
  expect(routed).toContain('Ingress tenants/kmc-red differs from the fields of its control plane');
  // The address may be that of another controller.
  expect(JSON.stringify(lab.statusOf('red'))).not.toContain('192.0.2.77');

  const { metadata, spec } = ingressOfK0smotron();
  const { annotations } = metadata;
  await lab.user.patch(RESOURCES.ingress, key, 'merge', { metadata: { annotations }, spec });

  await lab.untilCondition('red', 'Routed', /^True Admitted: the controller serves it at 192/);
});
