/**
 * The Service type of a ClusterDeployment's control plane, if its chart has a value for it. By default each control
 * plane gets its own load balancer. Snicket never changes the type of a running control plane.
 */
import type { Finding } from '../../api/finding.ts';
import { textAt } from '../../kube/unstructured.ts';
import { objectText, type KubeObject } from '../../kube/object.ts';
import type { ChartLayout } from './layouts.ts';
import type { ChartValues } from './values.ts';

/** The type behind an edge, which has the public address. */
const WANTED_TYPE = 'ClusterIP';

/** The Service type of a control plane, and the path of its value in the chart. */
export interface ServiceType {
  readonly path: readonly string[];
  readonly type: string;
  /**
   * Whether the type stays as it is. Another type would mean another Service, and the address that nodes have joined by
   * would no longer exist.
   */
  readonly isRetained: boolean;
}

/** Returns the current type; undefined if the chart has no value for it, or if no type is set yet. */
export function serviceTypeIn(
  deployment: KubeObject,
  controlPlane: KubeObject | undefined,
  { serviceType: path }: ChartLayout,
): ServiceType | undefined {
  const configured = path && textAt(deployment, 'spec', 'config', ...path);
  const type = configured ?? textAt(controlPlane, 'spec', 'service', 'type');
  if (path === undefined || type === undefined) return undefined;
  return { path, type, isRetained: type !== WANTED_TYPE };
}

/** Returns the desired values, without the type if that stays as it is. */
export function valuesWithType(values: ChartValues, type: ServiceType | undefined): ChartValues {
  return type?.isRetained === true ? without(values, type.path) : values;
}

/** Removes a value, and the objects that are empty afterwards. */
function without(values: ChartValues, [name = '', ...rest]: readonly string[]): ChartValues {
  const inner = rest.length === 0 ? {} : without((values[name] ?? {}) as ChartValues, rest);
  const { [name]: _, ...others } = values;
  return Object.keys(inner).length === 0 ? others : { ...values, [name]: inner };
}

/** Returns the finding that the type stays as it is, with the value to write. */
export function retainedTypeFinding(deployment: KubeObject, { path, type }: ServiceType): Finding {
  const value = ['spec', 'config', ...path].reduceRight(
    (inner, name, index) => (index === 0 ? `${name}: ${inner}` : `{${name}: ${inner}}`),
    WANTED_TYPE,
  );
  return {
    code: 'ServiceTypeNotNeeded',
    severity: 'warning',
    message: `The Service of the control plane of ${objectText(deployment)} has type ${type}, so it has an address besides that of the edge, which workers and kubeconfigs use. Changing the type would replace the Service.`,
    action: `Once no node and no kubeconfig uses that address, set ${value}`,
  };
}
