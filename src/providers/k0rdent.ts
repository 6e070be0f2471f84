/**
 * k0rdent: a ClusterDeployment, whose chart creates a K0smotronControlPlane and the rest of a cluster. Snicket writes
 * fields into the values of the chart if it has values for them, because these survive an upgrade. It writes the other
 * fields into the K0smotronControlPlane.
 */
import { listAt, textAt, valueAt } from '../kube/unstructured.ts';
import { keyText, objectText, type KubeObject, type ObjectKey } from '../kube/object.ts';
import type { Finding } from '../api/finding.ts';
import { prepareK0smotronControlPlane, readK0smotronControlPlane } from './capi-k0smotron.ts';
import type {
  ControlPlaneObjects,
  ControlPlaneReading,
  ProvidedFacts,
} from './reading/control-plane-reading.ts';
import type { ProviderIngress } from '../plan/control-plane.ts';
import { clusterNameOf, ingressFrom, ingressName } from './k0s/control-plane.ts';
import { chartLayout, type ChartLayout, type IngressValue } from './k0rdent/layouts.ts';
import { valuesFor } from './k0rdent/values.ts';
import { serviceTypeIn, retainedTypeFinding, valuesWithType } from './k0rdent/service-type.ts';
import { isUnhandledClass } from './preparation/ingress-class.ts';
import { OWN_MANAGER } from './preparation/field-owners.ts';
import { leavesOf } from './preparation/field-path.ts';
import { deletingFindings } from './preparation/object-findings.ts';
import type {
  DesiredField,
  DesiredValue,
  Preparation,
  PreparationSpec,
} from './preparation/preparation.ts';
import type { Provider } from './provider.ts';
import { inVersionOf, isOfKind, PROVIDER_RESOURCES } from './provider-resources.ts';

const CONTROL_PLANE_SUFFIX = '-cp';
/** The port of charts that have no value for it. */
const FIXED_PORT = 443;

/** The provider k0rdent. */
export const k0rdent: Provider = {
  name: 'k0rdent',
  resource: PROVIDER_RESOURCES.clusterDeployment,
  read: async (object, objects) => readClusterDeployment(object, objects),
  prepare: prepareBoth,
  clearedBeforeRemoval: [],
  pendingRollout: async () => undefined,
};

const RELEASE_NAME = 'helm.toolkit.fluxcd.io/name';
const RELEASE_NAMESPACE = 'helm.toolkit.fluxcd.io/namespace';

/**
 * Returns the key of the ClusterDeployment that a K0smotronControlPlane may belong to: the name of its Helm release.
 * Only the API server knows whether it exists.
 */
export function clusterDeploymentOf(controlPlane: KubeObject): ObjectKey | undefined {
  const { name, namespace, labels = {}, annotations = {} } = controlPlane.metadata;
  const release = labels[RELEASE_NAME] ?? annotations['meta.helm.sh/release-name'];
  if (release !== undefined) {
    const place = labels[RELEASE_NAMESPACE] ?? annotations['meta.helm.sh/release-namespace'];
    return { name: release, namespace: place ?? namespace };
  }
  const cluster = clusterNameOf(controlPlane);
  return cluster !== undefined && name === `${cluster}${CONTROL_PLANE_SUFFIX}`
    ? { name: cluster, namespace }
    : undefined;
}

async function readClusterDeployment(
  deployment: KubeObject,
  objects: ControlPlaneObjects,
): Promise<ControlPlaneReading> {
  const template = await templateOf(deployment, objects);
  const nothing = (finding: Finding, ...known: readonly (KubeObject | undefined)[]) => ({
    addresses: [],
    findings: [finding],
    provided: {
      // The objects remain in the result, so that cleanup finds the fields that Snicket has written.
      ...unknownFacts([deployment, ...known.flatMap((object) => object ?? [])], finding.message),
      ingress: ingressOfChart(deployment, template),
      template,
    },
  });
  const found = await objects.object?.(
    ...[PROVIDER_RESOURCES.k0smotronControlPlane, controlPlaneKey(deployment)],
  );
  const obstacle = obstacleOf(deployment);
  if (obstacle !== undefined) return nothing(obstacle, found);
  if (found === undefined) return nothing(controlPlaneMissing(deployment));
  const reading = await readK0smotronControlPlane(found, objects);
  const { provided } = reading;
  if (provided === undefined) return reading;
  return {
    ...reading,
    provided: { ...provided, provider: 'k0rdent', objects: [deployment, found], template },
  };
}

/** Returns the Ingress that k0smotron creates once the chart has rendered the values. */
function ingressOfChart(
  deployment: KubeObject,
  template: KubeObject | undefined,
): ProviderIngress | undefined {
  const { path } = chartLayout(deployment, template) ?? {};
  const values = path && valueAt(deployment, 'spec', 'config', ...path);
  return ingressFrom(values, ingressName({ ...deployment, metadata: clusterOf(deployment) }));
}

/** Returns the ClusterTemplate of a ClusterDeployment. @throws the errors of reading objects */
export async function templateOf(
  { metadata: { namespace }, ...deployment }: KubeObject,
  objects: ControlPlaneObjects,
): Promise<KubeObject | undefined> {
  const name = textAt(deployment, 'spec', 'template');
  if (name === undefined) return undefined;
  return objects.object?.(PROVIDER_RESOURCES.clusterTemplate, { name, namespace });
}

/** Returns the key of the K0smotronControlPlane that the chart creates. */
function controlPlaneKey({ metadata, ...deployment }: KubeObject): ObjectKey {
  const { name, namespace } = clusterOf({ metadata, ...deployment });
  return { name: `${name}${CONTROL_PLANE_SUFFIX}`, namespace };
}

/** Returns the key of the Cluster that the chart creates. */
function clusterOf({ metadata: { name, namespace }, ...deployment }: KubeObject): ObjectKey {
  // The chart for Hetzner can override the name of the cluster.
  return { name: textAt(deployment, 'spec', 'config', 'clusterName') ?? name, namespace };
}

function unknownFacts(objects: readonly KubeObject[], phaseReason: string): ProvidedFacts {
  return {
    provider: 'k0rdent',
    objects,
    phase: 'provisioning',
    phaseReason,
    serviceCidrs: [],
    clusterDomain: 'cluster.local',
    hasKonnectivity: false,
  };
}

function obstacleOf(deployment: KubeObject): Finding | undefined {
  const text = objectText(deployment);
  if (valueAt(deployment, 'spec', 'dryRun') === true) {
    return {
      code: 'ControlPlaneInactive',
      severity: 'error',
      message: `${text} has spec.dryRun, so it has no control plane.`,
      action: 'Remove spec.dryRun.',
    };
  }
  const region = textAt(deployment, 'status', 'region');
  if (region === undefined) return undefined;
  return {
    code: 'ControlPlaneRemote',
    severity: 'error',
    message: `The control plane of ${text} runs in the regional cluster ${region}.`,
    action: 'Install Snicket in that cluster, and expose its K0smotronControlPlane there.',
  };
}

function controlPlaneMissing(deployment: KubeObject): Finding {
  return {
    code: 'ControlPlaneMissing',
    severity: 'error',
    message: `K0smotronControlPlane ${keyText(controlPlaneKey(deployment))} of ${objectText(deployment)} does not exist: its chart is not installed yet, or creates another kind of control plane.`,
    action: `Wait for its condition HelmReleaseReady. If the control plane has another name, set spec.controlPlane.objectRef to that K0smotronControlPlane.`,
  };
}

function prepareBoth(
  objects: readonly KubeObject[],
  spec: PreparationSpec,
): readonly Preparation[] {
  const deployment = objects.find((object) =>
    isOfKind(PROVIDER_RESOURCES.clusterDeployment, object),
  );
  const controlPlane = objects.find((object) =>
    isOfKind(PROVIDER_RESOURCES.k0smotronControlPlane, object),
  );
  const layout = deployment && chartLayout(deployment, spec.template);
  return [
    ...(deployment === undefined
      ? []
      : [prepareDeployment(deployment, controlPlane, layout, spec)]),
    ...(controlPlane === undefined ? [] : [prepareControlPlane(controlPlane, layout, spec)]),
  ];
}

function prepareDeployment(
  deployment: KubeObject,
  controlPlane: KubeObject | undefined,
  layout: ChartLayout | undefined,
  spec: PreparationSpec,
): Preparation {
  const serviceType = layout && serviceTypeIn(deployment, controlPlane, layout);
  const values = layout === undefined ? {} : valuesWithType(valuesFor(layout, spec), serviceType);
  const obstacle = obstacleOf(deployment);
  // The type of the current Service is unknown in this case.
  const isUnknown = controlPlane === undefined && layout !== undefined && isInstalled(deployment);
  const isPortFixed = layout !== undefined && !layout.values.has('port');
  return {
    object: deployment,
    resource: inVersionOf(PROVIDER_RESOURCES.clusterDeployment, deployment),
    fields: leavesOf(values).map(([path, value]) => ({
      path: ['spec', 'config', ...path],
      value: value as DesiredValue['value'],
      isMet: isMetBy(deployment, path, spec),
      purpose: 'the chart passes it to the control plane',
    })),
    findings: [
      ...deletingFindings(deployment),
      ...(obstacle === undefined ? [] : [obstacle]),
      ...(obstacle === undefined && isUnknown ? [controlPlaneMissing(deployment)] : []),
      ...(serviceType?.isRetained === true ? [retainedTypeFinding(deployment, serviceType)] : []),
      ...(layout === undefined ? [noValues(deployment)] : []),
      ...(layout?.isAssumed === true ? [valuesAssumed(deployment, layout)] : []),
      ...(isPortFixed && spec.port !== FIXED_PORT ? [fixedPort(deployment, spec)] : []),
    ],
  };
}

/**
 * Returns the check for a value that may also be satisfied by another value than Snicket's; undefined if only Snicket's
 * value satisfies it.
 */
function isMetBy(
  deployment: KubeObject,
  path: readonly string[],
  spec: PreparationSpec,
): DesiredValue['isMet'] {
  const field = path.at(-1);
  const className = valueAt(deployment, 'spec', 'config', ...path.slice(0, -1), 'className');
  const host = textAt(deployment, 'spec', 'config', ...path.slice(0, -1), 'apiHost');
  const isKept = spec.keepsIngress === true && host !== undefined;
  if (field === 'className') return (present) => isKept || isUnhandledClass(present, spec);
  if (field === 'deploy') {
    return (present) => isKept || present === false || isUnhandledClass(className, spec);
  }
  if (field === 'konnectivityHost' && spec.hosts.konnectivity === undefined) {
    return (present) => typeof present === 'string' && present !== '';
  }
  return undefined;
}

/** Reports whether the chart is installed. */
function isInstalled(deployment: KubeObject): boolean {
  return listAt(deployment, 'status', 'conditions').some(
    (condition) =>
      textAt(condition, 'type') === 'HelmReleaseReady' && textAt(condition, 'status') === 'True',
  );
}

/**
 * Leaves the fields that the chart renders to the chart, because writing them too would conflict with Helm at every
 * change. Snicket only reads these back.
 */
function prepareControlPlane(
  controlPlane: KubeObject,
  layout: ChartLayout | undefined,
  spec: PreparationSpec,
): Preparation {
  const preparation = prepareK0smotronControlPlane(controlPlane, spec);
  if (layout === undefined) return preparation;
  const found = preparation.findings.filter(
    // If the Service type is a value of the chart, the finding on the ClusterDeployment covers it.
    ({ code }) => code !== 'ServiceTypeNotNeeded' || layout.serviceType === undefined,
  );
  return {
    ...preparation,
    fields: preparation.fields.map((field) =>
      isRendered(field, layout) ? { ...field, isRendered: true } : field,
    ),
    findings: [...found, ...(isWrittenAsOlder(controlPlane) ? [patchesLost(controlPlane)] : [])],
  };
}

/** Reports whether the chart renders a field of the K0smotronControlPlane from its values. */
function isRendered({ path }: DesiredField, { values }: ChartLayout): boolean {
  const [, block, name] = path;
  if (block !== 'ingress') return false;
  // Without a value for it, the class in the values determines whether the Ingress is served.
  if (name === 'deploy') return values.has('deploy') || values.has('className');
  return values.has(name as IngressValue);
}

function noValues(deployment: KubeObject): Finding {
  const template = textAt(deployment, 'spec', 'template') ?? '';
  return {
    code: 'ChartValuesMissing',
    severity: 'warning',
    message: `The chart of template ${template} has no known values for an ingress, so Snicket writes to the K0smotronControlPlane, and a chart upgrade may revert that for a moment.`,
    action: 'Add such values to the chart. Run snicket render --values to see them.',
  };
}

function valuesAssumed(deployment: KubeObject, { path }: ChartLayout): Finding {
  const template = textAt(deployment, 'spec', 'template') ?? '';
  return {
    code: 'ChartValuesUnconfirmed',
    severity: 'warning',
    message: `ClusterTemplate ${template} of ${objectText(deployment)} does not show the values of its chart, and its version is not one that Snicket knows. Snicket assumes that the chart reads spec.config.${path.join('.')}.`,
    action: `Check status.config of the ClusterTemplate, or the values of the chart. If the chart reads other values, set apiHost and konnectivityHost there yourself: Snicket then uses the same place.`,
  };
}

function fixedPort(deployment: KubeObject, { port }: PreparationSpec): Finding {
  const template = textAt(deployment, 'spec', 'template') ?? '';
  return {
    code: 'EdgePortUnsupported',
    severity: 'error',
    message: `The Edge uses port ${port}, but the chart of template ${template} has no value for the port and uses ${FIXED_PORT}.`,
    action: `Choose an Edge with port ${FIXED_PORT}, or a version of the chart with a value for the port.`,
  };
}

const OLDER_VERSION = '/v1beta1';

/** Reports whether another client writes the object in the older version, which has no `spec.patches`. */
function isWrittenAsOlder({ apiVersion, metadata: { managedFields = [] } }: KubeObject): boolean {
  return (
    !apiVersion.endsWith(OLDER_VERSION) &&
    managedFields.some(
      ({ manager, subresource, ...entry }) =>
        manager !== OWN_MANAGER &&
        subresource === undefined &&
        entry.apiVersion?.endsWith(OLDER_VERSION) === true,
    )
  );
}

function patchesLost(controlPlane: KubeObject): Finding {
  return {
    code: 'PatchesRevertedByHelm',
    severity: 'warning',
    message: `The chart writes ${objectText(controlPlane)} as v1beta1, which removes spec.patches on every upgrade. The proxy of k0smotron may then run on the workers until Snicket restores the field.`,
    action: 'No action is needed. A chart that writes v1beta2 avoids this.',
  };
}
