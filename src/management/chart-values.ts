/**
 * The chart values that a k0rdent ClusterDeployment should have, for users who manage them in git.
 */
import { textAt } from '../kube/unstructured.ts';
import type { KubeObject } from '../kube/object.ts';
import type {
  ControlPlaneObjects,
  ProvidedFacts,
} from '../providers/reading/control-plane-reading.ts';
import { clusterDeploymentOf, templateOf } from '../providers/k0rdent.ts';
import {
  serviceTypeIn,
  valuesWithType,
  type ServiceType,
} from '../providers/k0rdent/service-type.ts';
import { chartLayout } from '../providers/k0rdent/layouts.ts';
import { customValues, valuesFor, type ChartValues } from '../providers/k0rdent/values.ts';
import type { PreparationSpec } from '../providers/preparation/preparation.ts';
import { isOfKind, PROVIDER_RESOURCES } from '../providers/provider-resources.ts';

/** The values, and their ClusterDeployment. */
export interface DeploymentValues {
  readonly deployment: KubeObject;
  readonly template: string;
  /** Whether the layout of the chart is known. If not, the values are an example for a custom chart. */
  readonly isKnown: boolean;
  readonly values: ChartValues;
  /** The Service type, if it stays unchanged and is not among the values. */
  readonly keptType?: ServiceType | undefined;
}

/**
 * Returns the values for a control plane; undefined if it belongs to no ClusterDeployment. @throws the errors of
 * reading objects
 */
export async function chartValues(
  { objects: found }: Pick<ProvidedFacts, 'objects'>,
  spec: PreparationSpec,
  objects: ControlPlaneObjects,
): Promise<DeploymentValues | undefined> {
  const deployment = await deploymentOf(found, objects);
  if (deployment === undefined) return undefined;
  const template = textAt(deployment, 'spec', 'template') ?? '';
  const layout = chartLayout(deployment, await templateOf(deployment, objects));
  const controlPlane = found.find((object) =>
    isOfKind(PROVIDER_RESOURCES.k0smotronControlPlane, object),
  );
  const type = layout && serviceTypeIn(deployment, controlPlane, layout);
  return {
    deployment,
    template,
    isKnown: layout !== undefined,
    values:
      layout === undefined ? customValues(spec) : valuesWithType(valuesFor(layout, spec), type),
    ...(type?.isRetained === true && { keptType: type }),
  };
}

async function deploymentOf(
  found: readonly KubeObject[],
  objects: ControlPlaneObjects,
): Promise<KubeObject | undefined> {
  const { clusterDeployment, k0smotronControlPlane } = PROVIDER_RESOURCES;
  const named = found.find((object) => isOfKind(clusterDeployment, object));
  const controlPlane = found.find((object) => isOfKind(k0smotronControlPlane, object));
  if (named !== undefined || controlPlane === undefined) return named;
  const key = clusterDeploymentOf(controlPlane);
  return key && objects.object?.(clusterDeployment, key);
}
