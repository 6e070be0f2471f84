/**
 * The desired fields of a k0smotron control plane, standalone or under Cluster API.
 */
import { listAt, textAt, valueAt } from '../../kube/unstructured.ts';
import { objectText, type KubeObject } from '../../kube/object.ts';
import type { Finding } from '../../api/finding.ts';
import { hasKonnectivity, ingressName } from './control-plane.ts';
import {
  setsEndpoint,
  isPublicEndpoint,
  disablesOwnProxy,
  NO_OWN_PROXY,
  publicEndpoint,
} from './patches.ts';
import { isUnhandledClass } from '../preparation/ingress-class.ts';
import { certificateNameFindings, hostFindings } from '../preparation/host-names.ts';
import { deletingFindings, serviceTypeFindings } from '../preparation/object-findings.ts';
import { quoted } from '../../text/quote.ts';
import type { DesiredEntry, DesiredField, PreparationSpec } from '../preparation/preparation.ts';
import { VERSIONED_FEATURES, featureFindings } from '../../api/versions.ts';

const INGRESS = ['spec', 'ingress'] as const;
/** The version with `spec.patches`. A client that writes the object in an older version removes them. */
const PATCHES_VERSION = 'v1beta2';

/** Returns the desired fields. */
export function k0sFields(object: KubeObject, spec: PreparationSpec): readonly DesiredField[] {
  const { hosts, port } = spec;
  const ingress = (
    field: string,
    value: string | number | boolean,
    purpose: string,
    isMet?: (present: unknown) => boolean,
  ): DesiredField => ({ path: [...INGRESS, field], value, purpose, isMet });
  const setsExternalAddress = otherExternalAddress(object, spec) === undefined;
  // Without it, k0smotron never reports the control plane as exposed, and Cluster API waits for that.
  const desiredExternal: DesiredField = {
    path: ['spec', 'externalAddress'],
    value: hosts.api,
    purpose: 'k0smotron treats the control plane as exposed',
  };
  // Replaces an endpoint for previous hosts that a user has copied into the object.
  const endpoint: DesiredEntry = {
    entry: publicEndpoint(hosts.api, port),
    isMet: (present) => present.some((patch) => setsEndpoint(patch, hosts.api, port)),
    replaces: isPublicEndpoint,
  };
  const noOwnProxy: DesiredEntry = {
    entry: NO_OWN_PROXY,
    isMet: (present) => present.some(disablesOwnProxy),
  };
  const entries = [noOwnProxy, ...(setsExternalAddress ? [endpoint] : [])];
  return [
    ingress(
      'deploy',
      false,
      'k0smotron creates no Ingress for the same hosts',
      (present) =>
        keepsIngress(object, spec) || present === false || hasUnhandledClass(object, spec),
    ),
    ingress(
      'apiHost',
      hosts.api,
      'kubeconfigs and join tokens point to the edge, the certificate contains the host, and no endpoint reconciler runs',
    ),
    ingress(
      'konnectivityHost',
      // The CRD requires a host, even if konnectivity is disabled.
      hosts.konnectivity ?? `konnectivity.${hosts.api}`,
      'the konnectivity agents of the workers connect to the edge, and the certificate contains the host',
      hasKonnectivity(object)
        ? undefined
        : (present) => typeof present === 'string' && present !== '',
    ),
    ingress('port', port, 'the port of the edge'),
    ...(setsExternalAddress ? [desiredExternal] : []),
    ...(hasPatches(object)
      ? [
          {
            path: ['spec', 'patches'],
            entries,
            purpose: 'k0smotron does not run its proxy on the workers',
          },
        ]
      : []),
  ];
}

/** Reports whether k0smotron's own Ingress stays. Without the user's own host, there would be none. */
function keepsIngress(object: KubeObject, spec: PreparationSpec): boolean {
  return spec.keepsIngress === true && textAt(object, ...INGRESS, 'apiHost') !== undefined;
}

/** Reports whether no controller handles the class of k0smotron's own Ingress. */
function hasUnhandledClass(object: KubeObject, spec: PreparationSpec): boolean {
  return isUnhandledClass(valueAt(object, ...INGRESS, 'className'), spec);
}

/** Returns an external address that is neither the API host nor a previous one, and so belongs to the user. */
function otherExternalAddress(
  object: KubeObject,
  { hosts, previousHosts = [] }: PreparationSpec,
): string | undefined {
  const external = textAt(object, 'spec', 'externalAddress');
  const ownHosts = [hosts.api, ...previousHosts, textAt(object, ...INGRESS, 'apiHost')];
  return ownHosts.includes(external) ? undefined : external;
}

/** Returns what prevents the preparation, or what the user should know about it. */
export function k0sFindings(object: KubeObject, spec: PreparationSpec): readonly Finding[] {
  const text = objectText(object);
  const version = textAt(object, 'spec', 'version');
  const feature = VERSIONED_FEATURES.k0sAddressWithPort;
  return [
    ...deletingFindings(object),
    ...hostFindings(spec, hasKonnectivity(object)),
    ...(version === undefined
      ? [versionMissing(text)]
      : featureFindings(feature, version, `spec.version of ${text}`)),
    ...certificateNameFindings(
      listAt(object, 'spec', 'k0sConfig', 'spec', 'api', 'sans'),
      `spec.k0sConfig.spec.api.sans of ${text}`,
    ),
    ...externalAddressFindings(object, spec),
    ...(isElsewhere(object) ? [remoteHostFinding(text)] : []),
    ...(hasPatches(object) ? [] : [noPatches(text, object.apiVersion)]),
    ...ownIngressFindings(object, spec),
    ...serviceTypeFindings(object, 'spec.service.type', textAt(object, 'spec', 'service', 'type')),
  ];
}

function hasPatches({ apiVersion }: KubeObject): boolean {
  return apiVersion.endsWith(`/${PATCHES_VERSION}`);
}

function isElsewhere(object: KubeObject): boolean {
  const { spec } = object as { readonly spec?: unknown };
  return (
    valueAt(spec, 'remoteHostCluster', 'kubeconfigRef') !== undefined ||
    valueAt(spec, 'kubeconfigRef') !== undefined // the name in v1beta1
  );
}

function remoteHostFinding(text: string): Finding {
  return {
    code: 'ControlPlaneRemote',
    severity: 'error',
    message: `${text} runs its control plane in another cluster (spec.remoteHostCluster), which also has its Service.`,
    action:
      'Install Snicket in that cluster, and expose the control plane there with spec.controlPlane.service.',
  };
}

function versionMissing(text: string): Finding {
  const { since } = VERSIONED_FEATURES.k0sAddressWithPort;
  return {
    code: 'VersionUnsupported',
    severity: 'error',
    message: `${text} has no spec.version. k0smotron then uses 1.27, which does not work behind an edge.`,
    action: `Set spec.version to v${since.at(-1)}-k0s.0 or newer.`,
  };
}

function noPatches(text: string, apiVersion: string): Finding {
  return {
    code: 'ProviderFeatureConflict',
    severity: 'warning',
    message: `${text} is served as ${apiVersion}, which has no spec.patches. k0smotron therefore deploys its own proxy (DaemonSet default/k0smotron-haproxy) to the workers, and Service default/kubernetes points to it.`,
    action: `Upgrade k0smotron to 2.0 or newer, which serves ${PATCHES_VERSION}.`,
  };
}

/** Snicket does not change an address of the user: nodes may have joined by it. */
function externalAddressFindings(object: KubeObject, spec: PreparationSpec): readonly Finding[] {
  const external = otherExternalAddress(object, spec);
  if (external === undefined) return [];
  const field = `spec.externalAddress of ${objectText(object)}`;
  const wrong = certificateNameFindings([external], field);
  if (wrong.length > 0) return wrong;
  const { api } = spec.hosts;
  return [
    {
      code: 'HostMismatch',
      severity: 'warning',
      message: `Field ${field} is ${quoted(external)} instead of ${api}, so k0smotron points the tenant's CNI there (ConfigMap kube-system/control-plane-endpoint), bypassing the edge.`,
      action: `Set it to ${api}, unless the CNI should keep using that address.`,
    },
  ];
}

/** Warns about the Ingress of k0smotron, which k0smotron never deletes. */
function ownIngressFindings(object: KubeObject, spec: PreparationSpec): readonly Finding[] {
  const hasOwn =
    !keepsIngress(object, spec) &&
    textAt(object, ...INGRESS, 'apiHost') !== undefined &&
    valueAt(object, ...INGRESS, 'deploy') !== false &&
    !hasUnhandledClass(object, spec);
  if (!hasOwn) return [];
  const { namespace = '' } = object.metadata;
  return [
    {
      code: 'HostClaimed',
      severity: 'warning',
      message: `k0smotron created an Ingress for ${objectText(object)} and does not delete it when spec.ingress.deploy is false.`,
      action: `Delete it once the routes of the Edge exist: kubectl delete -n ${namespace} ingress ${ingressName(object)}`,
    },
  ];
}
