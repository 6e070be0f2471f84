import { describe, expect, test } from 'bun:test';
import type { KubeObject } from '../kube/object.ts';
import { makeCa } from '../pki/testing/test-ca.ts';
import { clusterDeploymentOf, k0rdent } from './k0rdent.ts';
import { chartLayout } from './k0rdent/layouts.ts';
import { customValues, valuesFor } from './k0rdent/values.ts';
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
import { PROVIDER_RESOURCES } from './provider-resources.ts';
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
    [{ 'spec.dryRun': true }, 'ControlPlaneInactive', 'has spec.dryRun'],
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

/** Returns the ClusterTemplate of a name, with the default values of its chart. */
function templateOf(name: string, config: object): KubeObject {
  const { apiVersion, kind } = PROVIDER_RESOURCES.clusterTemplate;
  const object = { apiVersion, kind, metadata: { name, namespace: 'tenants' }, status: { config } };
  return object;
}

const HOST_VALUES = {
  apiHost: 'violet.k8s.example.test',
  konnectivityHost: 'violet.konnectivity.example.test',
};
const NESTED = { service: { type: 'ClusterIP' }, ingress: HOST_VALUES };
const UNHANDLED = { className: 'snicket-unhandled' };

describe('values of charts', () => {
  const valuesOf = (template: string, config: object = {}, defaults?: object) => {
    const deployment = changed(clusterDeployment('violet', template), { 'spec.config': config });
    const layout = chartLayout(deployment, defaults && templateOf(template, defaults));
    return layout && { ...layout, values: valuesFor(layout, SPEC) };
  };
  const top = { enabled: true, ...HOST_VALUES, ...UNHANDLED, port: 443 };

  test.each([
    ['openstack-hosted-cp-1-0-17', undefined],
    ['openstack-hosted-cp-1-0-18', { ingress: top, k0smotron: { service: { type: 'ClusterIP' } } }],
    ['openstack-hosted-cp-1-0-26', { ingress: top, k0smotron: { service: { type: 'ClusterIP' } } }],
    [
      'openstack-hosted-cp-1-0-27',
      {
        ingress: { enabled: true, deploy: false, ...HOST_VALUES, port: 443 },
        k0smotron: { service: { type: 'ClusterIP' } },
      },
    ],
    ['hetzner-hosted-cp-0-0-1', { controlPlane: nestedWith({ enabled: true, ...UNHANDLED }) }],
    ['hetzner-hosted-cp-0-5-14', { controlPlane: NESTED }],
    ['hetzner-hosted-cp-1-0-0', { controlPlane: NESTED }],
    ['hetzner-hosted-cp-1-1-0', { controlPlane: NESTED }],
    ['hetzner-hosted-cp-1-2-0', { controlPlane: NESTED }],
    ['hetzner-hosted-cp-1-2-1', { controlPlane: NESTED }],
    ['hetzner-hosted-cp-1-3-0', { ingress: top }],
    ['hetzner-hosted-cp-1-3-8', { controlPlane: nestedWith({ enabled: true, ...UNHANDLED }) }],
    ['hetzner-hosted-cp-1-3-10', { controlPlane: nestedWith({ enabled: true, ...UNHANDLED }) }],
    ['hetzner-hosted-cp-1-3-11', { ingress: top }],
    ['hetzner-hosted-cp-1-3-17', { ingress: top }],
    ['aws-hosted-cp-1-0-10', undefined],
    ['openstack-hosted-cpu', undefined],
  ] as const)('depend on the version in the name of the template: %s', (template, values) => {
    const layout = valuesOf(template);

    expect(layout?.values).toEqual(values);
    expect(layout?.isAssumed ?? false).toBe(false);
  });

  test.each(['hetzner-hosted-cp', 'hetzner-hosted-cp-1-3-7', 'hetzner-hosted-cp-1-2-5'])(
    'are assumed for a version that is not known: %s',
    (template) => {
      expect(valuesOf(template)?.isAssumed).toBe(true);
    },
  );

  const nestedDefaults = { controlPlane: { replicas: 1, service: { type: 'ClusterIP' } } };
  const topDefaults = { ingress: { enabled: false, className: '', apiHost: '', port: 443 } };

  test.each([
    ['hetzner-hosted-cp-1-3-7', nestedDefaults, { controlPlane: NESTED }],
    ['hetzner-hosted-cp-1-3-7', topDefaults, { ingress: top }],
    ['hetzner-hosted-cp-1-2-0', topDefaults, { ingress: top }],
    ['hetzner-hosted-cp-1-3-17', nestedDefaults, { controlPlane: NESTED }],
    ['mine-2-0-0', topDefaults, { ingress: top }],
    [
      'mine-2-0-0',
      { ingress: { deploy: true, className: '', apiHost: '' } },
      { ingress: { deploy: false, ...HOST_VALUES } },
    ],
    ['openstack-hosted-cp-1-0-40', { flavor: 'm1' }, undefined],
  ])('are those in the status of the ClusterTemplate: %s, %j', (template, defaults, values) => {
    const layout = valuesOf(template, {}, defaults);

    expect(layout?.values).toEqual(values);
    expect(layout?.isAssumed ?? false).toBe(false);
  });

  test('in the status of the ClusterTemplate count more than those of the user', () => {
    const config = { ingress: { apiHost: 'mine.example.test' } };

    expect(valuesOf('hetzner-hosted-cp-1-3-17', config, nestedDefaults)?.values).toEqual({
      controlPlane: NESTED,
    });
  });

  test.each([
    ['hetzner-hosted-cp-1-3-7', { controlPlane: { ingress: { apiHost: '' } } }, true],
    ['hetzner-hosted-cp-1-3-7', { ingress: { apiHost: '' } }, false],
    ['hetzner-hosted-cp-1-2-0', { controlPlane: { service: { type: 'ClusterIP' } } }, false],
    ['hetzner-hosted-cp-1-2-0', { ingress: { apiHost: '' } }, true],
  ])('are where the user has set others: %s, %j', (template, config, isAssumed) => {
    const layout = valuesOf(template, config);

    expect(Object.keys(layout?.values ?? {})).toEqual(Object.keys(config));
    expect(layout?.isAssumed).toBe(isAssumed);
  });

  test('of an unknown chart are those that the user has set', () => {
    const ingress = { enabled: true, className: 'haproxy', apiHost: 'a', konnectivityHost: 'b' };

    expect(
      valuesOf('custom-hosted-cp-1-0-22', { ingress: { ...ingress, port: 443 } }),
    ).toMatchObject({
      values: { ingress: top },
      isAssumed: false,
    });
    expect(valuesOf('custom-hosted-cp-1-0-22', { ingress: { apiHost: 'a' } })?.values).toEqual({
      ingress: HOST_VALUES,
    });
  });

  test('for a chart of a user include patches', () => {
    expect(customValues(SPEC)).toMatchObject({
      ingress: { deploy: false, ...HOST_VALUES },
      k0smotron: {
        service: { type: 'ClusterIP' },
        externalAddress: HOST_VALUES.apiHost,
        patches: [{ target: { component: 'ingress' } }, { target: { component: 'control-plane' } }],
      },
    });
  });

  test('set the konnectivity host, which charts require, even without konnectivity', () => {
    const layout = chartLayout(clusterDeployment('violet', OPENSTACK), undefined);
    const spec = { hosts: { api: 'a.example.test' }, port: 443 };

    for (const values of [valuesFor(layout!, spec), customValues(spec)]) {
      expect(JSON.stringify(values)).toContain('"konnectivityHost":"konnectivity.a.example.test"');
    }
  });
});

function nestedWith(ingress: object): object {
  return { ...NESTED, ingress: { ...HOST_VALUES, ...ingress } };
}

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
      ['written before its chart is installed', {}, [], 'ClusterIP'],
      ['written if its Service has it already', {}, running, 'ClusterIP'],
      ['written if its values have it already', { [type]: 'ClusterIP' }, balanced, 'ClusterIP'],
      ['unchanged if its Service is a LoadBalancer', {}, balanced, undefined],
      ['unchanged if its values have another one', { [type]: 'NodePort' }, [], undefined],
    ] as const)('%s', (_, fields, others, expected) => {
      const deployment = changed(clusterDeployment('violet', OPENSTACK), fields);

      const [plan] = plans([deployment, ...others]);

      const field = plan?.fields.find(({ path }) => path.join('.') === type);
      expect(field?.wanted).toBe(expected);
    });

    test('unchanged if its chart is installed and its Service is not known', () => {
      const conditions = [{ type: 'HelmReleaseReady', status: 'True' }];
      const deployment = clusterDeployment('violet', OPENSTACK);

      const [plan] = plans([changed(deployment, { 'status.conditions': conditions })]);

      expect(plan?.findings).toMatchObject([{ code: 'ControlPlaneMissing', severity: 'error' }]);
    });

    test('reported with the value to set, if it stays', () => {
      const [plan] = plans([clusterDeployment('violet', OPENSTACK), ...balanced]);

      expect(plan?.findings).toMatchObject([{ code: 'ServiceTypeNotNeeded', severity: 'warning' }]);
      expect(plan?.findings[0]?.message).toBe(
        'The Service of the control plane of ClusterDeployment tenants/violet has type LoadBalancer, so it has an address besides that of the edge, which workers and kubeconfigs use. Changing the type would replace the Service.',
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

  describe('is read back in the control plane', () => {
    const carried = {
      'spec.ingress': {
        apiHost: SPEC.hosts.api,
        konnectivityHost: SPEC.hosts.konnectivity,
        port: 443,
      },
    };
    const awaited = (template: string, fields: Readonly<Record<string, unknown>>) =>
      plans([
        clusterDeployment('violet', template),
        changed(k0smotronControlPlane('violet'), fields),
      ])[1]?.awaited.map(({ path }) => path.at(-1));

    test.each([
      [OPENSTACK, {}, ['deploy', 'apiHost', 'konnectivityHost', 'port']],
      [OPENSTACK, carried, ['deploy']],
      [OPENSTACK, { ...carried, 'spec.ingress.deploy': false }, []],
      // A chart without this value always creates the Ingress: its class decides.
      ['hetzner-hosted-cp-1-3-17', { ...carried, 'spec.ingress.className': 'haproxy' }, ['deploy']],
      [
        'hetzner-hosted-cp-1-3-17',
        { ...carried, 'spec.ingress.className': 'snicket-unhandled' },
        [],
      ],
    ])('%s with %j awaits %j', (template, fields, expected) => {
      expect(awaited(template, fields)).toEqual(expected);
    });

    test('where the chart has a fixed class, Snicket itself prevents the Ingress', () => {
      const [deployment, controlPlane] = plans([
        clusterDeployment('violet', 'hetzner-hosted-cp-1-2-0'),
        changed(k0smotronControlPlane('violet'), {
          ...carried,
          'spec.ingress.className': 'haproxy',
        }),
      ]);

      expect(deployment?.body).toMatchObject({
        spec: { config: { controlPlane: { ingress: HOST_VALUES } } },
      });
      expect(controlPlane?.body).toMatchObject({ spec: { ingress: { deploy: false } } });
      expect(controlPlane?.awaited).toEqual([]);
    });
  });

  test('says that the values are assumed if nothing shows them', () => {
    const [plan] = plans([clusterDeployment('violet', 'hetzner-hosted-cp-1-3-7')]);

    expect(plan?.findings).toMatchObject([{ code: 'ChartValuesUnconfirmed', severity: 'warning' }]);
  });

  test('of the oldest chart for Hetzner has a fixed port', () => {
    const objects = [clusterDeployment('olive', 'hetzner-hosted-cp-0-0-1')];

    expect(plans(objects)[0]?.findings).toEqual([]);
    expect(plans(objects, { ...SPEC, port: 8443 })[0]?.findings).toMatchObject([
      { code: 'EdgePortUnsupported', severity: 'error' },
    ]);
  });
});
