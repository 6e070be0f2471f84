/**
 * The values that k0rdent's chart of a control plane should have, for people who keep them in git.
 */
import { textAt } from '../kube/unstructured.ts';
import type { KubeObject } from '../kube/object.ts';
import type {
  ControlPlaneObjects,
  ProvidedFacts,
} from '../providers/reading/control-plane-reading.ts';
import { clusterDeploymentOf } from '../providers/k0rdent.ts';
import {
  serviceTypeIn,
  valuesWithType,
  type ServiceType,
} from '../providers/k0rdent/service-type.ts';
import { layoutOfTemplate, valuesFor, type ChartValues } from '../providers/k0rdent/values.ts';
import type { PreparationSpec } from '../providers/preparation/preparation.ts';
import { isOfKind, PROVIDER_RESOURCES } from '../providers/provider-resources.ts';

/** Values, and whose. */
export interface DeploymentValues {
  readonly deployment: KubeObject;
  readonly template: string;
  /** Whether the chart is known to have such values. If not, they are how a chart of one's own should have them. */
  readonly isKnown: boolean;
  readonly values: ChartValues;
  /** The value with the type of the Service, where it is left as it is and not among the values. */
  readonly keptType?: ServiceType | undefined;
}

/** The values for a control plane; undefined if it belongs to no ClusterDeployment. @throws what reading objects throws */
export async function chartValues(
  { objects: found }: Pick<ProvidedFacts, 'objects'>,
  spec: PreparationSpec,
  objects: ControlPlaneObjects,
): Promise<DeploymentValues | undefined> {
  const deployment = await deploymentOf(found, objects);
  if (deployment === undefined) return undefined;
  const template = textAt(deployment, 'spec', 'template') ?? '';
  const layout = layoutOfTemplate(template);
  const controlPlane = found.find((object) =>
    isOfKind(PROVIDER_RESOURCES.k0smotronControlPlane, object),
  );
  const type = layout && serviceTypeIn(deployment, controlPlane, layout);
  return {
    deployment,
    template,
    isKnown: layout !== undefined,
    values: valuesWithType(valuesFor(layout ?? 'custom', spec), type),
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
