/**
 * The common part of Kamaji and Steward: a TenantControlPlane. Steward is a fork of Kamaji.
 */
import { listAt, numberAt, textAt, textsAt, valueAt } from '../kube/unstructured.ts';
import { keyText, objectText, type KubeObject } from '../kube/object.ts';
import type { Finding } from '../api/finding.ts';
import type {
  ControlPlaneObjects,
  ControlPlanePhase,
  ControlPlaneReading,
  ProviderName,
} from './reading/control-plane-reading.ts';
import {
  addressFindings,
  certificateNameFindings,
  hostFindings,
} from './preparation/host-names.ts';
import { isUnhandledClass, UNHANDLED_CLASS } from './preparation/ingress-class.ts';
import { deletingFindings, serviceTypeFindings } from './preparation/object-findings.ts';
import {
  kubernetesFlagEntry,
  type FieldPath,
  type DesiredField,
  type DesiredList,
  type PreparationSpec,
} from './preparation/preparation.ts';
import { readProvided, type KnownFacts, type ProvidedNames } from './reading/provided-reading.ts';
import { PROVIDER_RESOURCES } from './provider-resources.ts';
import { textIn } from './reading/secret-reading.ts';

const SPEC = ['spec'] as const;
const CONTROL_PLANE = [...SPEC, 'controlPlane'] as const;
/** The path of the arguments of kube-apiserver. */
export const API_SERVER_ARGUMENTS: FieldPath = [
  ...CONTROL_PLANE,
  'deployment',
  'extraArgs',
  'apiServer',
];
/** The path of the names in the certificate of kube-apiserver, and with Kamaji of konnectivity-server too. */
const CERTIFICATE_NAMES: FieldPath = [...SPEC, 'networkProfile', 'certSANs'];
/** The path of the ingress, from which the provider creates an Ingress and the public address. */
export const INGRESS: FieldPath = [...CONTROL_PLANE, 'ingress'];
/** The path of konnectivity, which is disabled if absent. Writing a field below it would enable it. */
export const KONNECTIVITY: FieldPath = [...SPEC, 'addons', 'konnectivity'];

/** The flag that prevents the API server from writing the endpoints that Snicket writes. */
const NO_RECONCILER: DesiredList = {
  path: API_SERVER_ARGUMENTS,
  entries: [kubernetesFlagEntry('--endpoint-reconciler-type', 'none')],
  purpose: 'the API server must not replace the proxies as endpoints of Service default/kubernetes',
};

/** Reports whether the tenant has konnectivity. */
export function hasKonnectivity(object: KubeObject): boolean {
  return valueAt(object, ...KONNECTIVITY) !== undefined;
}

/** Reads a TenantControlPlane. @throws the errors of reading objects */
export async function readTenantControlPlane(
  object: KubeObject,
  { provider, displayName }: { readonly provider: ProviderName; readonly displayName: string },
  objects: ControlPlaneObjects,
): Promise<ControlPlaneReading> {
  const facts = {
    ...factsOf(object, provider),
    servingCertificate: await servingCertificate(object, objects),
  };
  return readProvided(object, namesOf(object, displayName), facts, objects);
}

/** Returns the names of the objects that the provider creates. */
function namesOf({ metadata, ...object }: KubeObject, displayName: string): ProvidedNames {
  const { name, namespace } = metadata;
  const status = valueAt(object, 'status');
  return {
    displayName,
    namespace,
    service: textAt(status, 'kubernetesResources', 'service', 'name') ?? name,
    portNames: { api: 'kube-apiserver', konnectivity: 'konnectivity-server' },
    ports: {
      api: numberAt(object, ...SPEC, 'networkProfile', 'port') ?? 6443,
      konnectivity: numberAt(object, ...KONNECTIVITY, 'server', 'port') ?? 8132,
    },
    ca: {
      name: textAt(status, 'certificates', 'ca', 'secretName') ?? `${name}-ca`,
      certificateKey: 'ca.crt',
      privateKeyKey: 'ca.key',
    },
    kubeconfig: {
      name: textAt(status, 'kubeconfig', 'admin', 'secretName') ?? `${name}-admin-kubeconfig`,
      entries: ['super-admin.svc', 'admin.svc', 'super-admin.conf', 'admin.conf'],
      publicEntry: 'admin.conf',
    },
  };
}

/** Returns the facts in the object. */
function factsOf(object: KubeObject, provider: ProviderName): KnownFacts {
  const network = valueAt(object, 'spec', 'networkProfile');
  const serviceCidrs = textsAt(network, 'serviceCidrs');
  const running = textAt(object, 'status', 'kubernetesResources', 'version', 'version');
  return {
    provider,
    objects: [object],
    ...phaseOf(object),
    version: running ?? textAt(object, 'spec', 'kubernetes', 'version'),
    serviceCidrs:
      serviceCidrs.length > 0 ? serviceCidrs : [textAt(network, 'serviceCidr') ?? '10.96.0.0/16'],
    clusterDomain: textAt(network, 'clusterDomain') ?? 'cluster.local',
    hasKonnectivity: hasKonnectivity(object),
  };
}

/** Returns the certificate of kube-apiserver as PEM; undefined if there is none yet. */
async function servingCertificate(
  { metadata: { name, namespace }, ...object }: KubeObject,
  objects: ControlPlaneObjects,
): Promise<string | undefined> {
  const reported = textAt(object, 'status', 'certificates', 'apiServer', 'secretName');
  const key = { name: reported ?? `${name}-api-server-certificate`, namespace };
  return textIn(await objects.secret(key), 'apiserver.crt');
}

/** The version states in which an API server answers. */
const SERVING: ReadonlySet<string> = new Set(['Ready', 'Upgrading', 'WriteLimited']);
const BEGINNING: ReadonlySet<string> = new Set(['', 'Provisioning']);

function phaseOf(object: KubeObject): {
  readonly phase: ControlPlanePhase;
  readonly phaseReason: string;
} {
  if (object.metadata.deletionTimestamp !== undefined) {
    return { phase: 'deleting', phaseReason: 'it is being deleted' };
  }
  const resources = valueAt(object, 'status', 'kubernetesResources');
  const status = textAt(resources, 'version', 'status') ?? '';
  const ready = numberAt(resources, 'deployment', 'readyReplicas') ?? 0;
  const phaseReason = `its version is ${status === '' ? 'not reported yet' : status}, and ${ready} of its pods are ready`;
  if (BEGINNING.has(status)) return { phase: 'provisioning', phaseReason };
  return { phase: SERVING.has(status) && ready > 0 ? 'serving' : 'unavailable', phaseReason };
}

/**
 * Returns the desired fields of both providers. Any of `addresses` satisfies the host name, and the first one is
 * written.
 */
export function commonFields(
  object: KubeObject,
  spec: PreparationSpec,
  addresses: readonly [string, ...string[]],
): readonly DesiredField[] {
  const { hosts, previousHosts = [] } = spec;
  const { api, konnectivity } = hosts;
  const names = [api, ...(hasKonnectivity(object) ? [konnectivity ?? ''] : []), ...previousHosts];
  return [
    {
      path: [...INGRESS, 'hostname'],
      value: addresses[0],
      isMet: (present) => addresses.some((address) => address === present),
      purpose:
        'kubeconfigs, join tokens, kube-public/cluster-info and kube-proxy point to the edge',
    },
    {
      path: [...INGRESS, 'ingressClassName'],
      value: UNHANDLED_CLASS,
      isMet: (present) =>
        (spec.keepsIngress === true && typeof present === 'string' && present !== '') ||
        isUnhandledClass(present, spec),
      purpose: 'no controller serves the Ingress that the provider creates for the host name',
    },
    {
      path: CERTIFICATE_NAMES,
      entries: names.map((name) => ({
        entry: name,
        isMet: (present) => present.some((entry) => isWildcardOf(entry, name)),
      })),
      purpose: 'the certificate contains the hosts of the tenant at the edge',
    },
    NO_RECONCILER,
  ];
}

/** Reports whether a certificate name is a wildcard that covers a host. A wildcard stands for one label. */
function isWildcardOf(name: unknown, host: string): boolean {
  return typeof name === 'string' && name === `*${host.slice(host.indexOf('.'))}`;
}

/** Returns the findings of both providers. */
export function commonFindings(
  object: KubeObject,
  spec: PreparationSpec,
  { displayName, pausedBy }: { readonly displayName: string; readonly pausedBy: string },
): readonly Finding[] {
  const { annotations = {} } = object.metadata;
  const text = objectText(object);
  const network = [...SPEC, 'networkProfile'];
  return [
    ...deletingFindings(object),
    ...hostFindings(spec, hasKonnectivity(object)),
    ...(valueAt(object, ...CONTROL_PLANE, 'gateway') === undefined ? [] : [gatewaySet(text)]),
    ...certificateNameFindings(
      listAt(object, ...CERTIFICATE_NAMES),
      `spec.networkProfile.certSANs of ${text}`,
    ),
    ...['address', 'advertiseAddress'].flatMap((field) =>
      addressFindings(
        valueAt(object, ...network, field),
        `spec.networkProfile.${field} of ${text}`,
      ),
    ),
    ...(annotations[pausedBy] === undefined
      ? []
      : [
          {
            ...({ code: 'ControlPlaneInactive', severity: 'warning' } as const),
            message: `${text} has the annotation ${pausedBy}, so ${displayName} does not reconcile it, and changes to it have no effect.`,
            action: 'Remove the annotation.',
          },
        ]),
    ...serviceTypeFindings(
      object,
      'spec.controlPlane.service.serviceType',
      textAt(object, ...CONTROL_PLANE, 'service', 'serviceType'),
    ),
  ];
}

function gatewaySet(text: string): Finding {
  return {
    code: 'ProviderFeatureConflict',
    severity: 'error',
    message: `${text} has spec.controlPlane.gateway, which excludes spec.controlPlane.ingress and requires a second port for konnectivity.`,
    action: 'Remove spec.controlPlane.gateway. Snicket creates the routes on the Edge.',
  };
}

/**
 * Returns which recorded arguments a running API server still has. Both providers keep unknown arguments of a running
 * container. They only remove them when extraArgs changes and still exists. Cleanup must therefore set the list to
 * empty, and wait for the rollout, before it removes the list.
 */
export async function pendingRollout(
  { metadata: { name, namespace } }: KubeObject,
  entries: readonly unknown[],
  objects: ControlPlaneObjects,
): Promise<string | undefined> {
  const key = { name, namespace };
  const deployment = await objects.object?.(PROVIDER_RESOURCES.deployment, key);
  const containers = listAt(deployment, 'spec', 'template', 'spec', 'containers');
  const running = new Set(
    containers.flatMap((container) => [
      ...textsAt(container, 'args'),
      ...textsAt(container, 'command'),
    ]),
  );
  const left = entries.filter((entry) => typeof entry === 'string' && running.has(entry));
  return left.length === 0
    ? undefined
    : `Deployment ${keyText(key)} still runs with ${left.join(' ')}`;
}
