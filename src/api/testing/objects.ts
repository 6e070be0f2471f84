/**
 * Valid and invalid Edges and Exposures, for tests of the parser and of a real API server.
 */

/** The fields of an object, as a user writes them. */
export type Fields = Readonly<Record<string, unknown>>;

const apiVersion = 'snicket.dev/v1alpha1';

/** An Edge or Exposure as a user writes it. */
export interface WrittenObject {
  readonly apiVersion: string;
  readonly kind: 'Edge' | 'Exposure';
  readonly metadata: Fields & { readonly name: string; readonly namespace?: string };
  readonly spec: Fields;
}

/** An Edge with this spec. */
export function edgeOf(spec: Fields, name = 'shared'): WrittenObject {
  return { apiVersion, kind: 'Edge', metadata: { name }, spec };
}

/** An Exposure with this spec, by default for a TenantControlPlane. */
export function exposureOf(spec: Fields, name = 'blue'): WrittenObject {
  const metadata = { name, namespace: 'default' };
  return { apiVersion, kind: 'Exposure', metadata, spec: { controlPlane: OBJECT, ...spec } };
}

/** A reference to the object of a provider. */
export const OBJECT_REF = {
  group: 'kamaji.clastix.io',
  kind: 'TenantControlPlane',
  name: 'blue',
} as const;
/** A control plane of type Object. */
export const OBJECT = { type: 'Object', objectRef: OBJECT_REF } as const;
const SECRETS = {
  caSecretRef: { name: 'blue-ca' },
  kubeconfigSecretRef: { name: 'blue-admin-kubeconfig' },
} as const;

/** Valid objects, by what is special about them. */
export const VALID_OBJECTS: Readonly<Record<string, WrittenObject>> = {
  'an Exposure with an image by address and digest': exposureOf({
    worker: { image: `[2001:db8::10]:5000/snicket@sha256:${'0'.repeat(64)}` },
  }),
  'an Edge with only a driver': edgeOf({ driver: 'snicket' }),
  'an Edge with all fields that every driver uses': edgeOf({
    driver: 'haproxy',
    domain: 'example.com',
    port: 8443,
    addresses: ['203.0.113.10', '2001:db8::10'],
    allowedNamespaces: {
      from: 'Selector',
      selector: {
        matchLabels: { team: 'a' },
        matchExpressions: [
          { key: 'kubernetes.io/metadata.name', operator: 'In', values: ['tenants', 'more'] },
          { key: 'retired', operator: 'DoesNotExist' },
        ],
      },
    },
    allowedHosts: ['*.example.com', 'api.example.net'],
    annotations: 'Ignored',
    ingress: { className: 'haproxy', annotations: { 'example.com/note': 'on' } },
  }),
  'an Edge with a domain of one label': edgeOf({ driver: 'nginx', domain: 'test' }),
  'an Edge for Traefik with defaults': edgeOf({ driver: 'traefik', traefik: {} }),
  'an Edge for Traefik': edgeOf({
    driver: 'traefik',
    traefik: { entryPoints: ['tls', 'websecure'], ingressClassName: 'outer' },
  }),
  'an Edge for a Gateway': edgeOf({
    driver: 'gateway-api',
    gatewayApi: {
      parentRefs: [{ namespace: 'edge', name: 'shared', sectionName: 'tls', port: 443 }],
    },
  }),
  'an Edge with driver ingress and annotations': edgeOf({
    driver: 'ingress',
    ingress: { annotations: { 'example.com/ssl-passthrough': 'true' } },
  }),
  'an Exposure with only an objectRef': exposureOf({}),
  'an Exposure with empty fields': exposureOf({
    hosts: null,
    worker: { mode: null, port: null, nodeSelector: { gpu: null } },
  }),
  'an Exposure for a Service': exposureOf({
    edgeRef: { name: 'shared' },
    controlPlane: {
      type: 'Service',
      service: { name: 'blue', konnectivityPort: 8132 },
      ...SECRETS,
    },
  }),
  'an Exposure for endpoints': exposureOf({
    controlPlane: {
      type: 'Endpoints',
      endpoints: { api: ['10.0.0.5:6443', '[fd00::5]:6443'], konnectivity: ['10.0.0.5:8132'] },
      caSecretRef: { name: 'blue-ca', certificateKey: 'ca.crt', privateKeyKey: 'ca.key' },
      kubeconfigSecretRef: { name: 'blue-admin', key: 'kubeconfig' },
      clusterDomain: 'cluster.local',
    },
  }),
  'an Exposure with all fields': exposureOf({
    edgeRef: { name: 'shared' },
    hosts: { api: 'blue.k8s.example.com', konnectivity: 'blue.konnectivity.example.com' },
    prepare: 'Report',
    worker: {
      mode: 'Terminate',
      address: 'Node',
      virtualAddresses: ['100.64.64.2', 'fd00:64::1'],
      port: 9443,
      healthPort: 9444,
      directInjection: true,
      image: 'registry.example.com/snicket:1',
      imagePullSecrets: [{ name: 'registry' }],
      resources: { requests: { cpu: 1, memory: '64Mi' }, limits: { memory: '.5Gi', cpu: '1e3' } },
      hostAliases: [{ ip: '203.0.113.10', hostnames: ['blue.k8s.example.com', 'edge'] }],
      tolerations: [
        { key: 'dedicated', value: 'gpu', effect: 'NoSchedule' },
        { key: 'spot', operator: 'Exists' },
      ],
      nodeSelector: { 'kubernetes.io/os': 'linux' },
      logLevel: 'debug',
    },
  }),
};

/** An object that validation rejects. */
export interface FieldInvalid {
  readonly object: WrittenObject;
  readonly path: string;
  /** The parser's message. The API server has the same message for a CEL rule, and its own for a schema error. */
  readonly sentence: string;
}

function worker(fields: Fields): WrittenObject {
  return exposureOf({ worker: fields });
}

function controlPlane(fields: Fields): WrittenObject {
  return exposureOf({ controlPlane: fields });
}

/** Objects that break a CEL rule. The parser and the API server reject them with the same message. */
export const RULE_VIOLATIONS: readonly FieldInvalid[] = [
  {
    object: edgeOf({ driver: 'snicket' }, 'shared.edge'),
    path: 'metadata.name',
    sentence:
      'invalid name "shared.edge": must be a lowercase RFC 1123 label of at most 63 characters',
  },
  {
    object: edgeOf({ driver: 'snicket', domain: '*.example.com' }),
    path: 'spec.domain',
    sentence: 'invalid domain "*.example.com": must be a lowercase DNS name, such as example.com',
  },
  {
    object: edgeOf({ driver: 'snicket', addresses: ['203.0.113.10', 'edge.example.com'] }),
    path: 'spec.addresses[1]',
    sentence:
      'invalid address "edge.example.com": must be an IP address that is not link-local, multicast or unspecified, such as 203.0.113.10',
  },
  {
    object: edgeOf({ driver: 'snicket', allowedNamespaces: { from: 'Selector' } }),
    path: 'spec.allowedNamespaces',
    sentence: 'selector must be set if from is Selector, and only then; from is Selector',
  },
  {
    object: edgeOf({
      driver: 'snicket',
      allowedNamespaces: { selector: { matchLabels: { team: 'a' } } },
    }),
    path: 'spec.allowedNamespaces',
    sentence: 'selector must be set if from is Selector, and only then; from is All',
  },
  ...['In', 'Exists'].map((operator) => ({
    object: edgeOf({
      driver: 'snicket',
      allowedNamespaces: {
        from: 'Selector',
        selector: {
          matchExpressions: [
            { key: 'team', operator, ...(operator === 'Exists' && { values: ['a'] }) },
          ],
        },
      },
    }),
    path: 'spec.allowedNamespaces.selector.matchExpressions[0]',
    sentence: `values must be set if operator is In or NotIn, and only then; operator is ${operator}`,
  })),
  ...['*', 'a.*.example.com', '*example.com', '10.0.0.1', 'Blue.example.com'].map((pattern) => ({
    object: edgeOf({ driver: 'snicket', allowedHosts: [pattern] }),
    path: 'spec.allowedHosts[0]',
    sentence: `invalid host pattern "${pattern}": must be a lowercase DNS name with a dot, optionally with a leading wildcard label, such as *.example.com`,
  })),
  {
    object: edgeOf({ driver: 'gateway-api' }),
    path: 'spec',
    sentence:
      'gatewayApi must be set if driver is gateway-api: set gatewayApi.parentRefs to the namespace and name of a Gateway',
  },
  {
    object: edgeOf({
      driver: 'traefik',
      gatewayApi: { parentRefs: [{ namespace: 'edge', name: 'shared' }] },
    }),
    path: 'spec',
    sentence:
      'gatewayApi must not be set if driver is traefik: remove it, or set driver to gateway-api',
  },
  {
    object: edgeOf({ driver: 'haproxy', traefik: {} }),
    path: 'spec',
    sentence: 'traefik must not be set if driver is haproxy: remove it, or set driver to traefik',
  },
  {
    object: edgeOf({ driver: 'snicket', ingress: { className: 'haproxy' } }),
    path: 'spec',
    sentence:
      'ingress must not be set if driver is snicket: remove it, or set driver to one of haproxy, haproxy-ingress, nginx, nginx-inc, contour, ingress',
  },
  {
    object: edgeOf({ driver: 'ingress', ingress: {} }),
    path: 'spec',
    sentence:
      'ingress must be set if driver is ingress: set ingress.className, or the ingress.annotations that enable TLS passthrough in your controller',
  },
  {
    object: edgeOf({ driver: 'nginx', ingress: { className: 'Outer' } }),
    path: 'spec.ingress.className',
    sentence: 'invalid name "Outer": must be a lowercase RFC 1123 subdomain',
  },
  {
    object: controlPlane({ type: 'Object' }),
    path: 'spec.controlPlane',
    sentence: 'objectRef must be set if type is Object, and only then; type is Object',
  },
  {
    object: controlPlane({ type: 'Service', ...SECRETS }),
    path: 'spec.controlPlane',
    sentence: 'service must be set if type is Service, and only then; type is Service',
  },
  {
    object: controlPlane({ type: 'Endpoints', ...SECRETS }),
    path: 'spec.controlPlane',
    sentence: 'endpoints must be set if type is Endpoints, and only then; type is Endpoints',
  },
  {
    object: controlPlane({
      type: 'Service',
      service: { name: 'blue' },
      endpoints: { api: ['10.0.0.5:6443'] },
      ...SECRETS,
    }),
    path: 'spec.controlPlane',
    sentence: 'endpoints must be set if type is Endpoints, and only then; type is Service',
  },
  {
    object: controlPlane({ ...OBJECT, service: { name: 'blue' } }),
    path: 'spec.controlPlane',
    sentence: 'service must be set if type is Service, and only then; type is Object',
  },
  {
    object: controlPlane({
      type: 'Service',
      service: { name: 'blue' },
      objectRef: OBJECT_REF,
      ...SECRETS,
    }),
    path: 'spec.controlPlane',
    sentence: 'objectRef must be set if type is Object, and only then; type is Service',
  },
  {
    object: controlPlane({
      type: 'Service',
      service: { name: 'blue' },
      caSecretRef: SECRETS.caSecretRef,
    }),
    path: 'spec.controlPlane',
    sentence: 'caSecretRef and kubeconfigSecretRef must be set if type is Service',
  },
  {
    object: controlPlane({ ...OBJECT, caSecretRef: SECRETS.caSecretRef }),
    path: 'spec.controlPlane',
    sentence:
      "caSecretRef and kubeconfigSecretRef must not be set if type is Object, which uses the provider's own Secrets",
  },
  {
    object: controlPlane({
      type: 'Service',
      service: { name: 'blue', konnectivityPort: 6443 },
      ...SECRETS,
    }),
    path: 'spec.controlPlane.service',
    sentence: 'konnectivityPort must differ from apiPort',
  },
  {
    object: controlPlane({ type: 'Endpoints', endpoints: { api: ['blue.svc:6443'] }, ...SECRETS }),
    path: 'spec.controlPlane.endpoints.api[0]',
    sentence:
      'invalid endpoint "blue.svc:6443": must be an IP address with a port, such as 10.0.0.5:6443 or [fd00::5]:6443',
  },
  {
    object: exposureOf({ hosts: { api: 'Blue.example.com' } }),
    path: 'spec.hosts.api',
    sentence:
      'invalid host "Blue.example.com": must be a lowercase DNS name with a dot, and not an IP address, such as tenant-01.k8s.example.com',
  },
  {
    object: exposureOf({ hosts: { api: 'b.example.com', konnectivity: 'b.example.com' } }),
    path: 'spec.hosts',
    sentence:
      'api and konnectivity must differ, since the edge routes by host; both are b.example.com',
  },
  {
    object: worker({ healthPort: 7443 }),
    path: 'spec.worker',
    sentence: 'port and healthPort must differ',
  },
  {
    object: worker({ virtualAddresses: ['169.254.20.10'] }),
    path: 'spec.worker.virtualAddresses[0]',
    sentence:
      'invalid virtual address "169.254.20.10": must be an IP address that is not loopback, link-local, multicast or unspecified, such as 100.64.64.1',
  },
  {
    object: worker({ virtualAddresses: ['100.64.64.1', '100.64.64.2'] }),
    path: 'spec.worker.virtualAddresses',
    sentence: 'must have at most one IPv4 and one IPv6 address',
  },
  {
    object: worker({ resources: { limits: { memory: '32MB' } } }),
    path: 'spec.worker.resources.limits.memory',
    sentence: 'invalid quantity "32MB": must be a quantity such as 10m, "0.5", 32Mi or 1Gi',
  },
  {
    object: worker({ resources: { requests: { cpu: -1 } } }),
    path: 'spec.worker.resources.requests.cpu',
    sentence: 'invalid quantity "-1": must be a quantity such as 10m, "0.5", 32Mi or 1Gi',
  },
  {
    object: worker({ hostAliases: [{ ip: '203.0.113.10', hostnames: ['Edge'] }] }),
    path: 'spec.worker.hostAliases[0].hostnames[0]',
    sentence: 'invalid host name "Edge": must be a lowercase DNS name',
  },
  {
    object: worker({ tolerations: [{ effect: 'NoSchedule' }] }),
    path: 'spec.worker.tolerations[0]',
    sentence:
      'key must be set if operator is Equal: set the key of the taint, or use operator Exists for all taints',
  },
  {
    object: worker({ tolerations: [{ key: 'spot', operator: 'Exists', value: 'yes' }] }),
    path: 'spec.worker.tolerations[0]',
    sentence: 'value must not be set if operator is Exists: remove "yes", or use operator Equal',
  },
  ...['', 'a b', 'x\u2028kind: Secret'].map((image) => ({
    object: worker({ image }),
    path: 'spec.worker.image',
    sentence: `invalid image "${image}": must be an image reference, such as registry.example.com/snicket:v1`,
  })),
];

/** Objects that violate the schema. The API server rejects the same fields with its own messages. */
export const SCHEMA_VIOLATIONS: readonly FieldInvalid[] = [
  {
    object: edgeOf({}),
    path: 'spec.driver',
    sentence:
      'required value: must be one of snicket, haproxy, haproxy-ingress, nginx, nginx-inc, traefik, contour, gateway-api, ingress, None',
  },
  {
    object: edgeOf({ driver: 'snicket', annotations: 'Refused' }),
    path: 'spec.annotations',
    sentence: 'invalid value "Refused": must be one of Allowed, Ignored',
  },
  {
    object: controlPlane({ objectRef: OBJECT_REF }),
    path: 'spec.controlPlane.type',
    sentence: 'required value: must be one of Object, Service, Endpoints',
  },
  {
    object: worker({ mode: 'terminate' }),
    path: 'spec.worker.mode',
    sentence: 'invalid value "terminate": must be one of Passthrough, Terminate',
  },
  {
    object: exposureOf({ prepare: 'patch' }),
    path: 'spec.prepare',
    sentence: 'invalid value "patch": must be one of Patch, Force, Report',
  },
  {
    object: edgeOf({ driver: 'snicket', port: 70_000 }),
    path: 'spec.port',
    sentence: 'invalid value 70000: must be at most 65535',
  },
  {
    object: worker({ port: 443 }),
    path: 'spec.worker.port',
    sentence: 'invalid value 443: must be at least 1024',
  },
  {
    object: worker({ port: '7443' }),
    path: 'spec.worker.port',
    sentence: 'invalid value "7443": must be a number',
  },
  {
    object: worker({ port: 7443.5 }),
    path: 'spec.worker.port',
    sentence: 'invalid value 7443.5: must be an integer',
  },
  {
    object: worker({ directInjection: 'yes' }),
    path: 'spec.worker.directInjection',
    sentence: 'invalid value "yes": must be true or false',
  },
  {
    object: worker({ virtualAddresses: '100.64.64.1' }),
    path: 'spec.worker.virtualAddresses',
    sentence: 'invalid value "100.64.64.1": must be a list',
  },
  {
    object: worker({ virtualAddresses: [] }),
    path: 'spec.worker.virtualAddresses',
    sentence: 'invalid list of 0 entries: must have at least 1 entry',
  },
  {
    object: worker({ nodeSelector: { gpu: true } }),
    path: 'spec.worker.nodeSelector.gpu',
    sentence: 'invalid value true: must be a string, in quotes if it looks like another type',
  },
  {
    object: worker({ resources: { requests: { cpu: 0.5 } } }),
    path: 'spec.worker.resources.requests.cpu',
    sentence: 'invalid value 0.5: must be an integer, or a string in quotes',
  },
  {
    object: exposureOf({ hosts: { api: `${'a.'.repeat(130)}example.com` } }),
    path: 'spec.hosts.api',
    sentence:
      `invalid value ${`"${'a.'.repeat(130)}example.com`.slice(0, 80)}` +
      '…: must have at most 253 characters',
  },
  {
    object: exposureOf({ hosts: 'blue.example.com' }),
    path: 'spec.hosts',
    sentence: 'invalid value "blue.example.com": must be a mapping',
  },
  {
    object: edgeOf({ driver: 'snicket', addresses: ['203.0.113.10', '203.0.113.10'] }),
    path: 'spec.addresses[1]',
    sentence: 'duplicate value "203.0.113.10"',
  },
  {
    object: worker({ imagePullSecrets: [{ name: 'registry' }, { name: 'registry' }] }),
    path: 'spec.worker.imagePullSecrets[1]',
    sentence: 'duplicate name "registry"',
  },
  {
    object: worker({
      hostAliases: ['a', 'b'].map((name) => ({ ip: '203.0.113.10', hostnames: [name] })),
    }),
    path: 'spec.worker.hostAliases[1]',
    sentence: 'duplicate ip "203.0.113.10"',
  },
];
