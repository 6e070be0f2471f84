import { describe, expect, test } from 'bun:test';
import type { KubeObject } from '../kube/object.ts';
import { makeCa } from '../pki/testing/test-ca.ts';
import { clusterDeploymentOf, k0rdent } from './k0rdent.ts';
import { CHART_LAYOUTS, layoutOfTemplate, valuesFor } from './k0rdent/values.ts';
import { planPreparations } from './preparation/plan-preparation.ts';
import type { PreparationSpec } from './preparation/preparation.ts';
import {
  capiCluster,
  changed,
  clusterDeployment,
  k0smotronCluster,
  k0smotronControlPlane,
  kubeconfigFor,
  secretOf,
  serviceOf,
  ownerFor,
} from './testing/provider-objects.ts';
import { objectsFrom } from './testing/provider-objects-source.ts';

const CA = await makeCa();
const SPEC: PreparationSpec = {
  hosts: { api: 'violet.k8s.example.test', konnectivity: 'violet.konnectivity.example.test' },
  port: 443,
};
const OPENSTACK = 'openstack-hosted-cp-1-0-40';

function left(name: string): readonly KubeObject[] {
  return [
    secretOf(`${name}-ca`, { 'tls.crt': CA.certificate, 'tls.key': CA.key }),
    secretOf(`${name}-kubeconfig`, { value: kubeconfigFor('https://10.0.0.1:6443') }),
    serviceOf(`kmc-${name}`, { api: 6443, konnectivity: 8132 }),
    ...[k0smotronControlPlane(name), k0smotronCluster(name), capiCluster(name)],
  ];
}

function plans(objects: readonly KubeObject[], spec: PreparationSpec = SPEC) {
  return planPreparations(objects, (bases) => k0rdent.prepare(bases, spec), ownerFor('violet'));
}

describe('a ClusterDeployment', () => {
  test('is read up to the Service of its control plane', async () => {
    const deployment = clusterDeployment('violet', OPENSTACK);

    const reading = await k0rdent.read(deployment, objectsFrom(left('violet')));

    expect(reading.findings).toEqual([]);
    expect(reading.controlPlane?.service.name).toBe('kmc-violet');
    expect(reading.provided).toMatchObject({ provider: 'k0rdent', phase: 'serving' });
    expect(reading.provided?.objects.map(({ kind }) => kind)).toEqual([
      'ClusterDeployment',
      'K0smotronControlPlane',
    ]);
  });

  test('may use another name for its cluster', async () => {
    const deployment = changed(clusterDeployment('teal', 'hetzner-hosted-cp-1-3-17'), {
      'spec.config.clusterName': 'violet',
    });

    const { controlPlane } = await k0rdent.read(deployment, objectsFrom(left('violet')));

    expect(controlPlane?.service.name).toBe('kmc-violet');
  });

  test.each([
    [
      {},
      'ControlPlaneMissing',
      'K0smotronControlPlane tenants/violet-cp of ClusterDeployment tenants/violet does not exist: its chart is not installed yet, or creates another kind of control plane.',
    ],
    [{ 'spec.dryRun': true }, 'ClusterDeploymentDryRun', 'has spec.dryRun'],
    [{ 'status.region': 'west' }, 'ControlPlaneRemote', 'in the regional cluster west'],
  ])(
    'with %j is not ready yet, and its prepared object is still known',
    async (fields, code, message) => {
      const deployment = changed(clusterDeployment('violet', OPENSTACK), fields);

      const { findings, provided } = await k0rdent.read(deployment, objectsFrom([]));

      expect(findings).toMatchObject([{ code }]);
      expect(findings[0]?.message).toContain(message);
      expect(provided?.objects).toEqual([deployment]);
    },
  );

  test.each([{ 'spec.dryRun': true }, { 'status.region': 'west' }])(
    'with %j is not written, and its prepared control plane is still known',
    async (fields) => {
      const deployment = changed(clusterDeployment('violet', OPENSTACK), fields);

      const { provided } = await k0rdent.read(deployment, objectsFrom(left('violet')));
      const [plan] = plans(provided?.objects ?? []);

      expect(provided?.objects.map(({ kind }) => kind)).toEqual([
        ...['ClusterDeployment', 'K0smotronControlPlane'],
      ]);
      expect(plan?.findings[0]).toMatchObject({ severity: 'error' });
    },
  );
});

describe('the ClusterDeployment of a K0smotronControlPlane', () => {
  const controlPlane = k0smotronControlPlane('violet');
  const labels = {
    'helm.toolkit.fluxcd.io/name': 'release',
    'helm.toolkit.fluxcd.io/namespace': 'kcm-system',
  };

  test.each([
    ['by its release', { 'metadata.labels': labels }, { name: 'release', namespace: 'kcm-system' }],
    [
      'by the annotations of Helm',
      { 'metadata.annotations': { 'meta.helm.sh/release-name': 'other' } },
      { name: 'other', namespace: 'tenants' },
    ],
    ['by the names of the chart', {}, { name: 'violet', namespace: 'tenants' }],
    ['with another name: not found', { 'metadata.name': 'mine' }, undefined],
  ])('is found %s', (_, fields, expected) => {
    expect(clusterDeploymentOf(changed(controlPlane, fields))).toEqual(expected);
  });
});

describe('values of charts', () => {
  test('have the fields that each chart reads', () => {
    const hosts = {
      apiHost: 'violet.k8s.example.test',
      konnectivityHost: 'violet.konnectivity.example.test',
    };

    expect(valuesFor('openstack-hosted-cp', SPEC)).toEqual({
      ingress: { enabled: true, deploy: false, ...hosts, port: 443 },
      k0smotron: { service: { type: 'ClusterIP' } },
    });
    expect(valuesFor('hetzner-hosted-cp', SPEC)).toEqual({
      ingress: {
        enabled: true,
        ...hosts,
        className: 'snicket-unhandled',
        port: 443,
        annotations: {},
      },
    });
    expect(valuesFor('hetzner-hosted-cp-0', SPEC)).toEqual({
      controlPlane: {
        service: { type: 'ClusterIP' },
        ingress: { enabled: true, className: 'snicket-unhandled', ...hosts, annotations: {} },
      },
    });
    expect(valuesFor('custom', SPEC)).toMatchObject({
      ingress: { deploy: false, ...hosts },
      k0smotron: {
        service: { type: 'ClusterIP' },
        externalAddress: hosts.apiHost,
        patches: [{ target: { component: 'ingress' } }, { target: { component: 'control-plane' } }],
      },
    });
  });

  test.each(CHART_LAYOUTS)(
    'of %s set the konnectivity host, which charts require, even without konnectivity',
    (layout) => {
      const values = JSON.stringify(
        valuesFor(layout, { hosts: { api: 'a.example.test' }, port: 443 }),
      );

      expect(values).toContain('"konnectivityHost":"konnectivity.a.example.test"');
    },
  );

  test.each([
    [OPENSTACK, 'openstack-hosted-cp'],
    ['hetzner-hosted-cp-1-3-17', 'hetzner-hosted-cp'],
    ['hetzner-hosted-cp-0-0-1', 'hetzner-hosted-cp-0'],
    ['hetzner-hosted-cp', 'hetzner-hosted-cp'],
    ['aws-hosted-cp-1-0-10', undefined],
    ['openstack-hosted-cpu', undefined],
  ] as const)('depend on the name of the template: %s', (template, layout) => {
    expect(layoutOfTemplate(template)).toBe(layout);
  });
});

describe('a ClusterDeployment behind an edge', () => {
  test('has the supported values in its chart, and the rest in the control plane', () => {
    const [deployment, controlPlane] = plans([
      clusterDeployment('violet', OPENSTACK),
      k0smotronControlPlane('violet'),
    ]);

    expect(deployment?.body).toMatchObject({
      spec: {
        config: { ingress: { deploy: false }, k0smotron: { service: { type: 'ClusterIP' } } },
      },
    });
    expect(controlPlane?.fields.map(({ path }) => path.join('.'))).toEqual([
      'spec.externalAddress',
      'spec.patches',
    ]);
    expect([...(deployment?.findings ?? []), ...(controlPlane?.findings ?? [])]).toEqual([]);
  });

  test.each([
    [
      { 'spec.config': [] },
      'Field spec.config of ClusterDeployment tenants/violet is [], but must be a mapping.',
    ],
    [
      { 'spec.config': 'x' },
      'Field spec.config of ClusterDeployment tenants/violet is "x", but must be a mapping.',
    ],
    [
      { 'spec.config.ingress': true },
      'Field spec.config.ingress of ClusterDeployment tenants/violet is true, but must be a mapping.',
    ],
    [
      { 'spec.config.k0smotron.service': 5 },
      'Field spec.config.k0smotron.service of ClusterDeployment tenants/violet is 5, but must be a mapping.',
    ],
    [{ 'spec.config.ingress': null }, undefined],
    [{ 'spec.config': null }, undefined],
  ])('keeps other values: %j', (fields, message) => {
    const [deployment] = plans([changed(clusterDeployment('violet', OPENSTACK), fields)]);

    expect(deployment?.findings.map(({ code }) => code)).toEqual(
      message === undefined ? [] : ['FieldInvalid'],
    );
    expect(deployment?.findings[0]?.message ?? '').toStartWith(message ?? '');
  });

  describe('has the Service type', () => {
    const type = 'spec.config.k0smotron.service.type';
    const running = [k0smotronControlPlane('violet')];
    const balanced = [changed(running[0]!, { 'spec.service.type': 'LoadBalancer' })];

    test.each([
      ['written before it begins', {}, [], 'ClusterIP'],
      ['written where it is that already', {}, running, 'ClusterIP'],
      ['written where its values say so already', { [type]: 'ClusterIP' }, balanced, 'ClusterIP'],
      ['left alone where it runs with a load balancer', {}, balanced, undefined],
      ['left alone where its values say otherwise', { [type]: 'NodePort' }, [], undefined],
    ] as const)('%s', (_, fields, others, expected) => {
      const deployment = changed(clusterDeployment('violet', OPENSTACK), fields);

      const [plan] = plans([deployment, ...others]);

      const field = plan?.fields.find(({ path }) => path.join('.') === type);
      expect(field?.wanted).toBe(expected);
    });

    test('unchanged if its chart is installed and its Service is unknown', () => {
      const conditions = [{ type: 'HelmReleaseReady', status: 'True' }];
      const deployment = clusterDeployment('violet', OPENSTACK);

      const [plan] = plans([changed(deployment, { 'status.conditions': conditions })]);

      expect(plan?.findings).toMatchObject([{ code: 'ControlPlaneMissing', severity: 'error' }]);
    });

    test('reported with the value to set, if it stays', () => {
      const [plan] = plans([clusterDeployment('violet', OPENSTACK), ...balanced]);

      expect(plan?.findings).toMatchObject([{ code: 'ServiceTypeNotNeeded', severity: 'warning' }]);
      expect(plan?.findings[0]?.message).toBe(
        'The Service of the control plane of ClusterDeployment tenants/violet has type LoadBalancer, so the control plane has an address besides that of the edge. Changing the type would replace the Service.',
      );
      expect(plan?.findings[0]?.action).toBe(
        'Once no node and no kubeconfig uses that address, set spec: {config: {k0smotron: {service: {type: ClusterIP}}}}',
      );
      expect(plans([clusterDeployment('violet', OPENSTACK), ...balanced])[1]?.findings).toEqual([]);
    });

    test('at its path in the oldest chart for Hetzner', () => {
      const olive = clusterDeployment('violet', 'hetzner-hosted-cp-0-0-1');

      expect(JSON.stringify(plans([olive])[0]?.body)).toContain('"type":"ClusterIP"');
      expect(JSON.stringify(plans([olive, ...balanced])[0]?.body)).not.toContain('"type"');
      expect(plans([olive, ...balanced])[0]?.findings[0]?.action).toEndWith(
        'spec: {config: {controlPlane: {service: {type: ClusterIP}}}}',
      );
    });
  });

  test('of another template has all fields in the control plane, with a warning', () => {
    const [deployment, controlPlane] = plans([
      clusterDeployment('violet', 'aws-hosted-cp-1-0-10'),
      k0smotronControlPlane('violet'),
    ]);

    expect(deployment?.fields).toEqual([]);
    expect(deployment?.findings).toMatchObject([
      { code: 'ChartValuesMissing', severity: 'warning' },
    ]);
    expect(controlPlane?.fields.map(({ path }) => path.join('.'))).toContain(
      'spec.ingress.apiHost',
    );
  });

  test('of the oldest chart for Hetzner has a fixed port', () => {
    const objects = [clusterDeployment('olive', 'hetzner-hosted-cp-0-0-1')];

    expect(plans(objects)[0]?.findings).toEqual([]);
    expect(plans(objects, { ...SPEC, port: 8443 })[0]?.findings).toMatchObject([
      { code: 'EdgePortUnsupported', severity: 'error' },
    ]);
  });
});
