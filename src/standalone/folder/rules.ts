/**
 * Rules for objects in a folder, in addition to those of a cluster: there are no Services, no providers and no other
 * ingress controllers.
 */
import type { Fault } from '../../api/fault.ts';
import { LABEL_PATTERN } from '../../api/values/name-patterns.ts';
import type { KubeObject } from '../../kube/object.ts';

/** The namespace of the operator's own objects. Objects in the folder cannot use it. */
export const OPERATOR_NAMESPACE = 'snicket-system';

const KINDS: ReadonlyMap<string, string> = new Map([
  ['Edge', 'snicket.dev/v1alpha1'],
  ['Exposure', 'snicket.dev/v1alpha1'],
  ['Secret', 'v1'],
]);

/** Metadata fields that users write, and those that a copy from a cluster has. */
const METADATA: ReadonlySet<string> = new Set([
  ...['name', 'namespace', 'labels', 'annotations'],
  ...['uid', 'resourceVersion', 'generation', 'creationTimestamp', 'managedFields', 'selfLink'],
]);

const NAMESPACE = new RegExp(LABEL_PATTERN);

/** Returns the faults that an object has only because it is in a folder. */
export function folderFaults(object: KubeObject): readonly Fault[] {
  const { apiVersion, kind } = object;
  const wanted = KINDS.get(kind);
  if (wanted === undefined) {
    const sentence = `${apiVersion} ${kind} is not supported in a folder; supported kinds are Edge, Exposure and Secret`;
    return [{ path: '', sentence }];
  }
  if (apiVersion !== wanted) {
    return [
      { path: 'apiVersion', sentence: `unsupported value "${apiVersion}": must be ${wanted}` },
    ];
  }
  return [...metadataFaults(object), ...specFaults(object)];
}

function metadataFaults({ kind, metadata }: KubeObject): readonly Fault[] {
  const faults = Object.keys(metadata)
    .filter((field) => !METADATA.has(field))
    .map((field) => ({
      path: `metadata[${JSON.stringify(field)}]`,
      sentence:
        'not supported in a file; supported fields are name, namespace, labels and annotations',
    }));
  const namespace: unknown = metadata.namespace;
  if (kind === 'Edge') {
    if (namespace === undefined) return faults;
    const sentence = `an Edge is cluster-scoped; remove the namespace, and list the namespaces that may use the Edge in spec.allowedNamespaces`;
    return [...faults, { path: 'metadata.namespace', sentence }];
  }
  if (typeof namespace !== 'string' || !NAMESPACE.test(namespace)) {
    const sentence = `invalid namespace ${JSON.stringify(namespace)}: must be a lowercase RFC 1123 label of at most 63 characters`;
    return [...faults, { path: 'metadata.namespace', sentence }];
  }
  if (namespace !== OPERATOR_NAMESPACE) return faults;
  const sentence = `namespace ${OPERATOR_NAMESPACE} is reserved for the operator; use another one`;
  return [...faults, { path: 'metadata.namespace', sentence }];
}

interface Specified {
  readonly spec?: {
    readonly driver?: unknown;
    readonly controlPlane?: Readonly<Record<string, unknown>> | null;
  } | null;
}

function specFaults(object: KubeObject): readonly Fault[] {
  const { spec } = object as Specified;
  if (object.kind === 'Edge') {
    const driver = spec?.driver;
    if (driver === undefined || driver === 'snicket') return [];
    const sentence = `driver ${JSON.stringify(driver)} requires a management cluster; use snicket, the gateway in this process`;
    return [{ path: 'spec.driver', sentence }];
  }
  const fields = Object.keys(spec?.controlPlane ?? {});
  return (['service', 'objectRef'] as const)
    .filter((field) => fields.includes(field))
    .map((field) => ({
      path: `spec.controlPlane.${field}`,
      sentence: `requires a management cluster; set type to Endpoints and replace ${field} with endpoints, such as {api: ["192.0.2.5:6443"]}, with caSecretRef and kubeconfigSecretRef`,
    }));
}
