import { describe, expect, test } from 'bun:test';
import type { KubeObject } from '../kube/object.ts';
import { NO_OWN_PROXY, publicEndpoint } from './k0s/patches.ts';
import { planProvided } from './plan-provided.ts';
import type { PreparationPlan } from './preparation/plan-preparation.ts';
import { pathText, type PreparationSpec } from './preparation/preparation.ts';
import { providerFor } from './provider-for.ts';
import {
  changed,
  clusterDeployment,
  newTenantControlPlane,
  k0smotronCluster,
  k0smotronControlPlane,
  ownerFor,
} from './testing/provider-objects.ts';

const API = 'blue.k8s.example.test';
const KONNECTIVITY = 'blue.konnectivity.example.test';
const SPEC: PreparationSpec = {
  hosts: { api: API, konnectivity: KONNECTIVITY },
  port: 443,
  handledClasses: new Set(['haproxy', 'public']),
};

/** Fields of an object, by path. */
type Fields = Readonly<Record<string, unknown>>;

function plansOf(objects: readonly KubeObject[], spec = SPEC): readonly PreparationPlan[] {
  const provider = providerFor(objects[0]!)!.name;
  return planProvided({ provider, objects }, spec, ownerFor('blue'));
}

/** Returns the paths of the fields that the plan writes. It must record the same fields. */
function writtenFields(objects: readonly KubeObject[], spec = SPEC): readonly string[] {
  return plansOf(objects, spec).flatMap(({ differing, recordBefore }) => {
    const written = differing.map(({ path }) => pathText(path).slice(1));
    expect(recordBefore.map(({ path }) => pathText(path).slice(1))).toEqual(written);
    return written;
  });
}

/** Reports whether the plan writes a field that has this value already. `others` are further fields of the object. */
function isWritten(
  object: KubeObject,
  field: string,
  value: unknown,
  { others = {}, spec = SPEC }: { readonly others?: Fields; readonly spec?: PreparationSpec } = {},
): boolean {
  return writtenFields([changed(object, { ...others, [field]: value })], spec).includes(field);
}

const HOST = 'spec.controlPlane.ingress.hostname';
const CLASS = 'spec.controlPlane.ingress.ingressClassName';
const NAMES = 'spec.networkProfile.certSANs';
const ARGUMENTS = 'spec.controlPlane.deployment.extraArgs.apiServer';
const AGENT = 'spec.addons.konnectivity.agent.extraArgs';

const CLASSES: readonly (readonly [value: unknown, isWritten: boolean])[] = [
  ['snicket-unhandled', false],
  ['none', false],
  ['haproxy', true],
  ['public', true],
  // Contour matches the class by a flag and needs no IngressClass.
  ['contour', true],
  ['', true],
  [undefined, true],
];

describe.each(['kamaji', 'steward'] as const)('a tenant of %s keeps', (provider) => {
  const tenant = newTenantControlPlane(provider, 'blue');

  test.each(CLASSES)(
    'an ingress class that no controller handles: %p, written %p',
    (value, expected) => {
      expect(isWritten(tenant, CLASS, value)).toBe(expected);
    },
  );

  test("only Snicket's ingress class if the classes of the cluster are unknown", () => {
    const spec = { ...SPEC, handledClasses: undefined };

    expect(isWritten(tenant, CLASS, 'none', { spec })).toBe(true);
    expect(isWritten(tenant, CLASS, 'snicket-unhandled', { spec })).toBe(false);
  });

  test.each([
    [[API, KONNECTIVITY], false],
    [['own.example.test', KONNECTIVITY, API], false],
    [['*.k8s.example.test', '*.konnectivity.example.test'], false],
    [['*.k8s.example.test', KONNECTIVITY], false],
    [['*.example.test'], true],
    [['*.k8s.example.test'], true],
    [[API], true],
    [undefined, true],
  ])('certificate names that cover the hosts: %p, written %p', (value, expected) => {
    expect(isWritten(tenant, NAMES, value)).toBe(expected);
  });

  test.each([
    [['--endpoint-reconciler-type=none'], false],
    [['--v=2', '--endpoint_reconciler_type=none'], false],
    [['--endpoint-reconciler-type', 'none', '--v=2'], false],
    [['--endpoint-reconciler-type=none', '--endpoint_reconciler-type=none'], false],
    [['--endpoint-reconciler-type=lease'], true],
    [['--endpoint-reconciler-type'], true],
    [['-endpoint-reconciler-type=none'], true],
    [['--endpoint-reconciler-types=none'], true],
    [[], true],
  ])('a flag that turns the endpoint reconciler off: %p, written %p', (value, expected) => {
    expect(isWritten(tenant, ARGUMENTS, value)).toBe(expected);
  });

  test('no flag with its value in a separate entry, which is an error', () => {
    const list = ['--endpoint-reconciler-type', 'lease'];

    const [plan] = plansOf([changed(tenant, { [ARGUMENTS]: list })]);

    expect(plan?.findings).toMatchObject([
      {
        code: 'FieldInvalid',
        severity: 'error',
        action: 'Write "--endpoint-reconciler-type=lease" as one entry.',
      },
    ]);
  });
});

describe('a tenant of Kamaji keeps', () => {
  const tenant = newTenantControlPlane('kamaji', 'blue');

  test.each([
    [`${API}:443`, 443, false],
    [API, 443, true],
    [`${API}:6443`, 443, true],
    [API, 6443, false],
    [`${API}:6443`, 6443, false],
    [undefined, 443, true],
  ])(
    'a host name that gives the address of the edge: %p at %p, written %p',
    (value, port, expected) => {
      expect(isWritten(tenant, HOST, value, { spec: { ...SPEC, port } })).toBe(expected);
    },
  );

  test.each([
    [[`--proxy-server-host=${KONNECTIVITY}`, '--proxy-server-port=443'], false],
    [['--v=2', '--proxy-server-port=443', `--proxy-server-host=${KONNECTIVITY}`], false],
    // Kamaji sorts these flags, and the agent accepts no other spelling.
    [['--proxy-server-host', KONNECTIVITY, '--proxy-server-port=443'], true],
    [[`--proxy_server_host=${KONNECTIVITY}`, '--proxy-server-port=443'], true],
    [[`--proxy-server-host=${KONNECTIVITY}`, '--proxy-server-port=8132'], true],
    [[`--proxy-server-host=${KONNECTIVITY}`], true],
  ])('agent flags that point to the edge: %p, written %p', (value, expected) => {
    expect(isWritten(tenant, AGENT, value)).toBe(expected);
  });

  test('everything if all fields are satisfied: nothing is written or recorded', () => {
    const prepared = changed(tenant, {
      [HOST]: `${API}:443`,
      [CLASS]: 'none',
      [NAMES]: ['*.k8s.example.test', KONNECTIVITY],
      [ARGUMENTS]: ['--endpoint_reconciler_type=none'],
      [AGENT]: [`--proxy-server-host=${KONNECTIVITY}`, '--proxy-server-port=443'],
    });

    expect(plansOf([prepared])).toMatchObject([
      { isDue: false, differing: [], recordBefore: [], recordAfter: [], findings: [] },
    ]);
  });
});

describe('a tenant of Steward keeps', () => {
  const tenant = newTenantControlPlane('steward', 'blue');
  const TYPE = 'spec.controlPlane.ingress.controllerType';

  test.each([
    [undefined, false],
    ['generic', false],
    ['haproxy', false],
    ['nginx', false],
    ['traefik', true],
  ])('a controller type that creates a plain Ingress: %p, written %p', (value, expected) => {
    expect(isWritten(tenant, TYPE, value)).toBe(expected);
  });

  test.each([
    [API, false],
    [`${API}:443`, true],
    ['other.k8s.example.test', true],
  ])('the host name: %p, written %p', (value, expected) => {
    expect(isWritten(tenant, HOST, value)).toBe(expected);
  });
});

const YAML_PATCHES = [
  {
    target: { kind: 'ConfigMap', component: 'ingress' },
    patch: {
      type: 'merge',
      content: `
# the same as Snicket's, by hand
data:
  0_temp-kubernetes-ep.yaml: |
    apiVersion: v1
    kind: Endpoints
    metadata: {name: kubernetes, namespace: default, labels: {endpointslice.kubernetes.io/skip-mirror: "true"}}
    subsets: [{addresses: [{ip: 192.0.2.1}], ports: [{name: https, port: 443}]}]
  1_haproxy-configmap.yaml: null
  2_haproxy-ds.yaml: ~
  3_kube-service.yaml:
`,
    },
  },
  {
    target: { kind: 'ConfigMap', component: 'control-plane' },
    patch: {
      type: 'merge',
      content: `
data:
  endpoint.yaml: |
    apiVersion: v1
    kind: ConfigMap
    metadata: {name: control-plane-endpoint, namespace: kube-system}
    data: {apiServerHost: ${API}, apiServerPort: "443"}
`,
    },
  },
];

describe.each([
  ['k0smotron', k0smotronCluster('blue')],
  ['Cluster API', k0smotronControlPlane('blue')],
])('a control plane of %s keeps', (_, object) => {
  const INGRESS = 'spec.ingress';
  const without = { 'spec.controlPlaneFlags': ['--disable-components=konnectivity-server'] };

  test.each([
    [false, undefined, false],
    [true, 'none', false],
    [undefined, 'none', false],
    [true, 'haproxy', true],
    [true, undefined, true],
    [undefined, undefined, true],
  ])(
    'an Ingress that no controller serves: deploy %p, class %p, written %p',
    (value, name, expected) => {
      const others = { [`${INGRESS}.className`]: name };
      expect(isWritten(object, `${INGRESS}.deploy`, value, { others })).toBe(expected);
    },
  );

  test('its Ingress without a warning, if no controller serves it', () => {
    const settings = { [`${INGRESS}.apiHost`]: API, [`${INGRESS}.deploy`]: true };
    const codes = (className: string) =>
      plansOf([changed(object, { ...settings, [`${INGRESS}.className`]: className })]).flatMap(
        ({ findings }) => findings.map(({ code }) => code),
      );

    expect(codes('none')).not.toContain('HostClaimed');
    expect(codes('haproxy')).toContain('HostClaimed');
  });

  test.each([
    [API, false],
    ['other.k8s.example.test', true],
    [undefined, true],
  ])('the API host: %p, written %p', (value, expected) => {
    expect(isWritten(object, `${INGRESS}.apiHost`, value)).toBe(expected);
  });

  test.each([
    [KONNECTIVITY, {}, false],
    ['other.example.test', {}, true],
    ['other.example.test', without, false],
    [undefined, without, true],
  ])('the konnectivity host: %p with %p, written %p', (value, others, expected) => {
    expect(isWritten(object, `${INGRESS}.konnectivityHost`, value, { others })).toBe(expected);
  });

  test.each([
    [443, false],
    [8443, true],
    [undefined, true],
  ])('the port: %p, written %p', (value, expected) => {
    expect(isWritten(object, `${INGRESS}.port`, value)).toBe(expected);
  });

  test.each([
    [API, false],
    // Another address belongs to the user, and stays with a warning.
    ['203.0.113.1', false],
    [undefined, true],
  ])('the external address: %p, written %p', (value, expected) => {
    expect(isWritten(object, 'spec.externalAddress', value)).toBe(expected);
  });

  test.each([
    ["Snicket's", [NO_OWN_PROXY, publicEndpoint(API, 443)], false],
    ['the same as YAML', YAML_PATCHES, false],
    ['one of them', YAML_PATCHES.slice(0, 1), true],
    ['of another host', [NO_OWN_PROXY, publicEndpoint('other.test', 443)], true],
    ['of another port', [NO_OWN_PROXY, publicEndpoint(API, 8443)], true],
    ['of another type', YAML_PATCHES.map(withType('strategic')), true],
    ['with invalid YAML', YAML_PATCHES.map(withContent('{')), true],
    ['with an alias', YAML_PATCHES.map(withContent('a: &a [b]\ndata: *a\n')), true],
    ['none', [], true],
  ])('patches: %s, written %p', (__, value, expected) => {
    expect(isWritten(object, 'spec.patches', value)).toBe(expected);
  });
});

type Patch = (typeof YAML_PATCHES)[number];

function withType(type: string): (patch: Patch) => object {
  return ({ target, patch }) => ({ target, patch: { ...patch, type } });
}

function withContent(content: string): (patch: Patch) => object {
  return ({ target, patch }) => ({ target, patch: { ...patch, content } });
}

describe('a ClusterDeployment of k0rdent keeps', () => {
  const openstack = clusterDeployment('blue', 'openstack-hosted-cp-1-0-40');
  const hetzner = clusterDeployment('blue', 'hetzner-hosted-cp-1-3-17');
  const older = clusterDeployment('blue', 'hetzner-hosted-cp-0-0-1');
  const INGRESS = 'spec.config.ingress';

  test.each([
    ['enabled', true, false],
    ['enabled', false, true],
    ['apiHost', API, false],
    ['apiHost', 'other.test', true],
    ['konnectivityHost', KONNECTIVITY, false],
    ['konnectivityHost', 'other.test', true],
    ['port', 443, false],
    ['port', 8443, true],
    ['deploy', false, false],
    ['deploy', true, true],
  ])('the value %s: %p, written %p', (field, value, expected) => {
    expect(isWritten(openstack, `${INGRESS}.${field}`, value)).toBe(expected);
  });

  test('an Ingress of a class that no controller handles', () => {
    const others = { [`${INGRESS}.className`]: 'none' };

    expect(isWritten(openstack, `${INGRESS}.deploy`, true, { others })).toBe(false);
  });

  test('any konnectivity host where there is no konnectivity', () => {
    const spec = { ...SPEC, hosts: { api: API } };

    expect(isWritten(openstack, `${INGRESS}.konnectivityHost`, 'any', { spec })).toBe(false);
    expect(isWritten(openstack, `${INGRESS}.konnectivityHost`, undefined, { spec })).toBe(true);
  });

  test.each(CLASSES)('a class that no controller handles: %p, written %p', (value, expected) => {
    expect(isWritten(hetzner, `${INGRESS}.className`, value)).toBe(expected);
    expect(isWritten(older, 'spec.config.controlPlane.ingress.className', value)).toBe(expected);
  });

  test.each([
    ['ClusterIP', false],
    ['LoadBalancer', false],
    ['NodePort', false],
    [undefined, true],
  ])('the type of its Service: %p, written %p', (value, expected) => {
    expect(isWritten(openstack, 'spec.config.k0smotron.service.type', value)).toBe(expected);
    expect(isWritten(older, 'spec.config.controlPlane.service.type', value)).toBe(expected);
  });
});
