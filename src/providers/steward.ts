/**
 * Steward: a TenantControlPlane. Steward derives the konnectivity host from the API host, and serves konnectivity with
 * a certificate for that name only.
 */
import { textAt, valueAt } from '../kube/unstructured.ts';
import { objectText, type KubeObject } from '../kube/object.ts';
import type { Finding } from '../api/finding.ts';
import type { DesiredField, Preparation, PreparationSpec } from './preparation/preparation.ts';
import type { Provider } from './provider.ts';
import { inVersionOf, PROVIDER_RESOURCES } from './provider-resources.ts';
import {
  API_SERVER_ARGUMENTS,
  commonFields,
  commonFindings,
  hasKonnectivity,
  INGRESS,
  pendingRollout,
  readTenantControlPlane,
} from './tenant-control-plane.ts';

const PAUSED = 'steward.butlerlabs.dev/paused';

/** The port that Steward always uses, whatever the port of the Edge is. */
const FIXED_PORT = 443;

/** The provider Steward. */
export const steward: Provider = {
  name: 'steward',
  resource: PROVIDER_RESOURCES.steward,
  read: async (object, objects) =>
    readTenantControlPlane(object, { provider: 'steward', displayName: 'Steward' }, objects),
  prepare: (objects, spec) => objects.map((object) => prepareOne(object, spec)),
  clearedBeforeRemoval: [API_SERVER_ARGUMENTS],
  pendingRollout,
};

/** Returns the konnectivity host that Steward derives from the API host; undefined if it derives none. */
export function stewardKonnectivityHost(api: string): string | undefined {
  const derived = api.replace('.k8s.', '.konnectivity.');
  return derived === api ? undefined : derived;
}

function prepareOne(object: KubeObject, spec: PreparationSpec): Preparation {
  const generic: DesiredField = {
    path: [...INGRESS, 'controllerType'],
    value: 'generic',
    // With any other type, or none, Steward creates a plain Ingress with the class above.
    isMet: (present) => present !== 'traefik' || spec.keepsIngress === true,
    purpose: 'with traefik, Steward creates routes for the host kubernetes for every tenant',
  };
  return {
    object,
    resource: inVersionOf(PROVIDER_RESOURCES.steward, object),
    // Without a port: Steward's own proxy would append the port a second time (host:443:443).
    fields: [...commonFields(object, spec, [spec.hosts.api]), generic],
    findings: [
      ...commonFindings(object, spec, { displayName: 'Steward', pausedBy: PAUSED }),
      ...portFindings(object, spec),
      ...konnectivityFindings(object, spec),
      ...ownProxyFindings(object),
      ...(spec.keepsIngress === true ? [] : ownRouteFindings(object)),
    ],
  };
}

function portFindings(object: KubeObject, { port }: PreparationSpec): readonly Finding[] {
  if (port === FIXED_PORT) return [];
  return [
    {
      code: 'EdgePortUnsupported',
      severity: 'error',
      message: `The Edge uses port ${port}, but Steward writes port ${FIXED_PORT} to the kubeconfigs and the agents of ${objectText(object)}.`,
      action: `Choose an Edge with port ${FIXED_PORT}.`,
    },
  ];
}

function konnectivityFindings(
  object: KubeObject,
  { hosts: { api, konnectivity } }: PreparationSpec,
): readonly Finding[] {
  if (!hasKonnectivity(object) || konnectivity === undefined) return [];
  const derived = stewardKonnectivityHost(api);
  if (derived === konnectivity) return [];
  return [
    {
      code: 'HostMismatch',
      severity: 'error',
      message: `The konnectivity host is ${konnectivity}, but Steward issues its certificate for ${derived ?? `${api}, the host of the API`}.`,
      action:
        derived === undefined
          ? 'Choose an API host that contains .k8s., so that Steward derives the konnectivity host by replacing it with .konnectivity.'
          : `Set spec.hosts.konnectivity to ${derived}.`,
    },
  ];
}

/** Both proxies would write the endpoints of Service default/kubernetes. */
function ownProxyFindings(object: KubeObject): readonly Finding[] {
  if (valueAt(object, 'spec', 'addons', 'tcpProxy') === undefined) return [];
  return [
    {
      code: 'ProviderFeatureConflict',
      severity: 'error',
      message: `${objectText(object)} has spec.addons.tcpProxy, so both Steward's proxy and Snicket write the endpoints of Service default/kubernetes.`,
      action:
        'Remove spec.addons.tcpProxy (an Exposure created for an annotation keeps its image, resources and hostAliases), and then delete Secret kube-system/steward-tcp-proxy-tls in the tenant, which contains the key of the API server.',
    },
  ];
}

function ownRouteFindings(object: KubeObject): readonly Finding[] {
  if (textAt(object, ...INGRESS, 'controllerType') !== 'traefik') return [];
  const { name, namespace } = object.metadata;
  return [
    {
      code: 'HostClaimed',
      severity: 'warning',
      message: `Steward does not delete IngressRouteTCP ${namespace}/${name} when controllerType is no longer traefik, and that route claims the host of the API.`,
      action: `Delete it: kubectl delete -n ${namespace} ingressroutetcp ${name}`,
    },
  ];
}
