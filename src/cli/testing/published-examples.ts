/**
 * For tests only: what users get for each YAML block of public documents on control planes behind an ingress.
 */
import type { KubeObject } from '../../kube/object.ts';
import {
  publishedBlocks,
  withBlock,
  type PublishedValue,
} from '../../providers/testing/published-manifests.ts';

/** A block with what its readers apply besides it, and with its outcome. */
export interface PublishedExample {
  /** The title of the document. */
  readonly document: string;
  /** The title of the block. */
  readonly block: string;
  /** Everything that is applied. */
  readonly objects: readonly (KubeObject | PublishedValue)[];
  /** The exit code of `snicket render -f`. */
  readonly exitCode: 0 | 1 | 2;
  /** The codes of its errors and warnings. */
  readonly codes: readonly string[];
  /** What the author of the block expects, and why the outcome is this one. */
  readonly outcome: string;
}

/** The outcome if the provider's Ingress is the route. */
const ROUTE = "works: k0smotron's Ingress is the route, since the Edge has its class";

const EDGE = { 'snicket.dev/edge': 'shared' };

/** Returns Edge `shared`, as the author of a document would have it. */
function edgeOf(spec: object, annotations: object = {}): PublishedValue {
  return {
    apiVersion: 'snicket.dev/v1alpha1',
    kind: 'Edge',
    metadata: { name: 'shared', annotations },
    spec: { addresses: ['203.0.113.10'], ...spec },
  };
}

/** Adds the annotation, which is all that Snicket needs in an object. */
function annotated(object: PublishedValue): PublishedValue {
  return withBlock(object, { metadata: { annotations: EDGE } });
}

const HAPROXY = edgeOf({ driver: 'haproxy', ingress: { className: 'haproxy' } });

function k0smotron(): readonly PublishedExample[] {
  const document = 'k0smotron: ingress support';
  const blocks = publishedBlocks('k0smotron-ingress');
  const cluster = {
    apiVersion: 'cluster.x-k8s.io/v1beta1',
    kind: 'Cluster',
    metadata: { name: 'my-cluster', namespace: 'default' },
    spec: { controlPlaneRef: { kind: 'K0smotronControlPlane', name: 'my-cluster-cp' } },
  };
  const newer = { spec: { version: 'v1.34.1-k0s.0' } };
  return [...blocks].flatMap(([block, object]): PublishedExample[] => {
    const others = block === 'Cluster API' ? [HAPROXY, cluster] : [HAPROXY];
    return [
      {
        document,
        block,
        objects: [...others, annotated(object)],
        exitCode: 1,
        codes: ['VersionUnsupported'],
        outcome:
          'refused: the block has k0s v1.34.0, but the document itself requires v1.34.1 or newer, and k0smotron 2 rejects v1.34.0 too',
      },
      {
        document,
        block: `${block}, with v1.34.1-k0s.0`,
        objects: [...others, annotated(withBlock(object, newer))],
        exitCode: 0,
        codes: [],
        outcome: ROUTE,
      },
      {
        document,
        block: `${block}, with v1.34.1-k0s.0 and as v1beta2`,
        objects: [
          ...others,
          annotated({
            ...withBlock(object, newer),
            apiVersion: String(object['apiVersion']).replace('v1beta1', 'v1beta2'),
          }),
        ],
        exitCode: 0,
        codes: [],
        outcome: ROUTE,
      },
    ];
  });
}

function hetzner(): readonly PublishedExample[] {
  const document = 'hetzner-hosted-cp: hosted control plane with ingress';
  const blocks = publishedBlocks('hetzner-chart');
  const block = (title: string) => blocks.get(title) ?? {};
  const complete = annotated(block('Complete ClusterDeployment'));
  const { spec } = complete as { readonly spec: { readonly config: PublishedValue } };
  const { controlPlane: _, ...config } = spec.config;
  const withoutControlPlane = { ...complete, spec: { ...spec, config } };
  const rendered = withBlock(
    {
      apiVersion: 'controlplane.cluster.x-k8s.io/v1beta1',
      kind: 'K0smotronControlPlane',
      metadata: {
        name: 'cluster01-cp',
        namespace: 'kcm-system',
        labels: { 'cluster.x-k8s.io/cluster-name': 'cluster01' },
      },
      spec: { version: 'v1.34.3+k0s.0' },
    },
    block('K0smotronControlPlane that the chart renders'),
  );
  const hetznerCluster = withBlock(
    {
      apiVersion: 'infrastructure.cluster.x-k8s.io/v1beta1',
      kind: 'HetznerCluster',
      metadata: { name: 'cluster01', namespace: 'kcm-system' },
    },
    block('HetznerCluster that the chart renders'),
  );
  return [
    {
      document,
      block: 'Values for ingress mode',
      objects: [
        HAPROXY,
        withBlock(withoutControlPlane, {
          spec: { config: block('Values for ingress mode') },
        }),
      ],
      exitCode: 0,
      codes: ['ControlPlaneMissing'],
      outcome: 'works',
    },
    {
      document,
      block: 'Values for LoadBalancer mode',
      objects: [
        edgeOf({ driver: 'haproxy', ingress: { className: 'haproxy' }, domain: 'example.com' }),
        withBlock(withoutControlPlane, {
          spec: { config: block('Values for LoadBalancer mode') },
        }),
      ],
      exitCode: 0,
      codes: ['ControlPlaneMissing', 'ServiceTypeNotNeeded'],
      outcome:
        'works, with hosts of the domain of the Edge. The control plane keeps the load balancer that the values request, and workers and kubeconfigs use the edge: write `ClusterIP` to save it',
    },
    {
      document,
      block: 'K0smotronControlPlane that the chart renders',
      objects: [HAPROXY, complete, rendered],
      exitCode: 0,
      codes: [],
      outcome: ROUTE,
    },
    {
      document,
      block: 'K0smotronControlPlane that the chart renders, behind another Edge',
      objects: [edgeOf({ driver: 'snicket' }), complete, rendered],
      exitCode: 0,
      codes: ['HostClaimed'],
      outcome:
        'works: the class is fixed in this chart, so Snicket sets `deploy: false` in the object itself',
    },
    {
      document,
      block: 'HetznerCluster that the chart renders',
      objects: [HAPROXY, complete, hetznerCluster],
      exitCode: 0,
      codes: ['ControlPlaneMissing'],
      outcome: 'works: Snicket does not read this object, whose endpoint is the API host already',
    },
    {
      document,
      block: 'Complete ClusterDeployment',
      objects: [HAPROXY, complete],
      exitCode: 0,
      codes: ['ControlPlaneMissing'],
      outcome: 'works',
    },
  ];
}

function k0rdent(): readonly PublishedExample[] {
  const document = 'k0rdent: ingress support';
  const blocks = publishedBlocks('k0rdent-ingress');
  const block = (title: string) => blocks.get(title) ?? {};
  const edge = edgeOf({ driver: 'haproxy-ingress', ingress: { className: 'haproxy' } });
  const custom = annotated(block('ClusterDeployment of a custom chart'));
  const rendered = withBlock(
    {
      metadata: {
        namespace: 'kcm-system',
        labels: { 'cluster.x-k8s.io/cluster-name': 'test-cluster' },
      },
      spec: { version: 'v1.34.3+k0s.0' },
    },
    block('Template of a custom chart'),
  );
  const openstack = {
    apiVersion: 'k0rdent.mirantis.com/v1beta1',
    kind: 'ClusterDeployment',
    metadata: { name: 'test-cluster', namespace: 'kcm-system' },
    spec: { template: 'openstack-hosted-cp-1-0-40', credential: 'test-credential' },
  };
  return [
    {
      document,
      block: 'Values of openstack-hosted-cp',
      objects: [HAPROXY, annotated(withBlock(openstack, block('Values of openstack-hosted-cp')))],
      exitCode: 0,
      codes: ['ControlPlaneMissing'],
      outcome: 'works',
    },
    {
      document,
      block: 'Template of a custom chart',
      objects: [edge, custom, rendered],
      exitCode: 0,
      codes: [],
      outcome: ROUTE,
    },
    {
      document,
      block: 'Default values of a custom chart',
      objects: [block('Default values of a custom chart')],
      exitCode: 2,
      codes: [],
      outcome: 'part of a chart, and no Kubernetes object',
    },
    {
      document,
      block: 'ClusterDeployment of a custom chart',
      objects: [edge, custom],
      exitCode: 0,
      codes: ['ControlPlaneMissing'],
      outcome: ROUTE,
    },
    {
      document,
      block: 'Environment of the cloud controller manager',
      objects: [block('Environment of the cloud controller manager')],
      exitCode: 2,
      codes: [],
      outcome:
        'part of a pod, and no Kubernetes object. [External cloud providers](../external-cloud-provider.md) says when it is needed',
    },
  ];
}

function steward(): readonly PublishedExample[] {
  const document = 'Steward: ingress mode';
  const edge = edgeOf({ driver: 'traefik', domain: 'example.com' });
  const base = {
    apiVersion: 'steward.butlerlabs.dev/v1alpha1',
    kind: 'TenantControlPlane',
    metadata: { name: 'tenant-01', namespace: 'tenants' },
    spec: { kubernetes: { version: 'v1.31.0' } },
  };
  const removesProxy =
    "refused: remove `spec.addons.tcpProxy`. Snicket's proxy takes its place, and two proxies would write the same endpoints";
  const results: Readonly<
    Record<string, Pick<PublishedExample, 'exitCode' | 'codes' | 'outcome'>>
  > = {
    'Complete example': {
      exitCode: 1,
      codes: ['FieldInvalid', 'HostClaimed', 'ProviderFeatureConflict'],
      outcome: `${removesProxy}. \`spec.networkProfile.address\` must be an IP address, also for Steward's certificates`,
    },
    'Service type': { exitCode: 0, codes: [], outcome: 'works' },
    Ingress: {
      exitCode: 1,
      codes: ['FieldConflict', 'HostClaimed', 'ProviderFeatureConflict'],
      outcome:
        'refused: write the class `snicket-unhandled` and the type `generic`, or set `prepare: Force`. Snicket creates the route',
    },
    'tcp-proxy': { exitCode: 1, codes: ['ProviderFeatureConflict'], outcome: removesProxy },
    'tcp-proxy with all settings': {
      exitCode: 1,
      codes: ['ProviderFeatureConflict', 'ProxySettingIgnored'],
      outcome: `${removesProxy}. The Exposure keeps \`resources\` and \`hostAliases\``,
    },
    'Certificate names': { exitCode: 0, codes: [], outcome: 'works' },
    Konnectivity: { exitCode: 0, codes: [], outcome: 'works' },
    'Image for air-gapped environments': {
      exitCode: 1,
      codes: ['ProviderFeatureConflict', 'ProxySettingIgnored'],
      outcome: `${removesProxy}. [Air-gapped clusters](../air-gapped.md) has the image of Snicket`,
    },
  };
  return [...publishedBlocks('steward-ingress-mode')].map(([block, value]): PublishedExample => {
    const result = results[block];
    if (result === undefined) {
      return {
        document,
        block,
        objects: [value],
        exitCode: 2,
        codes: [],
        outcome: 'settings of another program, and no Kubernetes object',
      };
    }
    const isOfHost = block === 'Certificate names';
    const ingress = { hostname: 'tenant-01.k8s.example.com', ingressClassName: 'none' };
    const whole = isOfHost ? withBlock(base, { spec: { controlPlane: { ingress } } }) : base;
    return { document, block, objects: [edge, annotated(withBlock(whole, value))], ...result };
  });
}

function kamaji(): readonly PublishedExample[] {
  const document = 'Kamaji: ingress addon';
  const blocks = publishedBlocks('kamaji-ingress-addon');
  const edge = edgeOf(
    { driver: 'haproxy', ingress: { className: 'haproxy' } },
    { 'snicket.dev/is-default': 'true' },
  );
  const ingress = blocks.get('Ingress that the addon creates') as unknown as KubeObject;
  const { uid } = { uid: ingress.metadata.name };
  const base = withBlock(blocks.get('Annotation') ?? {}, {
    spec: { kubernetes: { version: 'v1.30.2' } },
  });
  const whole = [...blocks]
    .filter(([, value]) => value !== (ingress as unknown))
    .reduce((object, [, block]) => withBlock(object, block), base);
  const rows = [...blocks].map(([block, value]): PublishedExample => {
    if (value === (ingress as unknown)) {
      return {
        document,
        block,
        objects: [edge, withBlock(base, { metadata: { uid } }), value],
        exitCode: 1,
        codes: ['HostClaimed'],
        outcome:
          'refused: uninstall the addon and delete this Ingress. Snicket creates one with the same hosts, ports, class and annotation',
      };
    }
    return {
      document,
      block,
      objects: [edge, withBlock(base, value)],
      exitCode: 0,
      codes: [],
      outcome: 'works',
    };
  });
  return [
    ...rows,
    {
      document,
      block: 'All blocks in one TenantControlPlane',
      objects: [edge, whole],
      exitCode: 0,
      codes: [],
      outcome: 'works, and no field has to change. The class `unhandled` stays',
    },
    {
      document,
      block: 'Annotation, without a default Edge',
      objects: [edgeOf({ driver: 'haproxy' }), base],
      exitCode: 1,
      codes: ['EdgeNotFound'],
      outcome:
        'refused: the annotation names no Edge. Annotate one with `snicket.dev/is-default: "true"`',
    },
  ];
}

/** Returns all examples, by document. */
export function publishedExamples(): readonly PublishedExample[] {
  return [...k0smotron(), ...hetzner(), ...k0rdent(), ...steward(), ...kamaji()];
}
