/**
 * The type of the Service of a ClusterDeployment's control plane, which its chart has a value for. By default each control
 * plane buys a load balancer; but one that runs with it is not changed unasked.
 */
import type { Finding } from '../../api/finding.ts';
import { textAt } from '../../kube/unstructured.ts';
import { objectText, type KubeObject } from '../../kube/object.ts';
import { SERVICE_TYPE, type ChartLayout, type ChartValues } from './values.ts';

/** The edge has the address. */
const WANTED_TYPE = 'ClusterIP';

/** The type of the Service of a control plane, and the value that says it. */
export interface ServiceType {
  readonly path: readonly string[];
  readonly type: string;
  /** Whether it is left as it is: another type is another Service, and an address that nodes have joined by is gone. */
  readonly isKept: boolean;
}

/** Undefined where the chart has no value for it, or nothing is there that could be kept. */
export function serviceTypeIn(
  deployment: KubeObject,
  controlPlane: KubeObject | undefined,
  layout: ChartLayout,
): ServiceType | undefined {
  const path = SERVICE_TYPE[layout];
  const told = path && textAt(deployment, 'spec', 'config', ...path);
  const type = told ?? textAt(controlPlane, 'spec', 'service', 'type');
  if (path === undefined || type === undefined) return undefined;
  return { path, type, isKept: type !== WANTED_TYPE };
}

/** The values as they are to be: without the type, where that is left as it is. */
export function valuesBeside(values: ChartValues, type: ServiceType | undefined): ChartValues {
  return type?.isKept === true ? without(values, type.path) : values;
}

/** A block that had nothing else is none. */
function without(values: ChartValues, [name = '', ...rest]: readonly string[]): ChartValues {
  const inner = rest.length === 0 ? {} : without((values[name] ?? {}) as ChartValues, rest);
  const { [name]: _, ...others } = values;
  return Object.keys(inner).length === 0 ? others : { ...values, [name]: inner };
}

/** That it is left as it is, and what to write. */
export function typeKept(deployment: KubeObject, { path, type }: ServiceType): Finding {
  const value = ['spec', 'config', ...path].reduceRight(
    (inner, name, index) => (index === 0 ? `${name}: ${inner}` : `{${name}: ${inner}}`),
    WANTED_TYPE,
  );
  return {
    code: 'ServiceTypeNotNeeded',
    severity: 'warning',
    message: `the Service of the control plane of ${objectText(deployment)} is of type ${type}, so it has an address of its own beside that of the edge, and another type would give it another Service`,
    action: `once no node and no kubeconfig uses that address, write ${value}`,
  };
}
