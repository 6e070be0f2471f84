/**
 * The hosts in the spec of a k0smotron Cluster, a K0smotronControlPlane or a ClusterDeployment.
 */
import { numberAt, textAt, textMapAt, valueAt } from '../../kube/unstructured.ts';
import { objectText, type KubeObject } from '../../kube/object.ts';
import type { Finding } from '../../api/finding.ts';
import { quoted } from '../../text/quote.ts';
import { ingressFrom, ingressName } from '../k0s/control-plane.ts';
import { isUnhandledClass } from '../preparation/ingress-class.ts';
import type { ShimContext, ShimIntent } from './shim-intent.ts';

/** The paths of an ingress: in the control plane itself, or in the values of the charts of k0rdent's templates. */
const INGRESSES = [
  ['spec', 'ingress'],
  ['spec', 'config', 'ingress'],
  ['spec', 'config', 'controlPlane', 'ingress'],
] as const;
const DEFAULT_PORT = 443;

/** Returns the intent of a control plane: both hosts. The class and annotations come from the Edge. */
export function k0smotronIntent(object: KubeObject, context: ShimContext): ShimIntent {
  const path = INGRESSES.find((candidate) => textAt(object, ...candidate, 'apiHost') !== undefined);
  if (path === undefined) return { hosts: {}, worker: {}, findings: [] };
  const ingress = valueAt(object, ...path);
  const [api, konnectivity] = [textAt(ingress, 'apiHost'), textAt(ingress, 'konnectivityHost')];
  const isItself = path === INGRESSES[0];
  return {
    hosts: {
      ...(api !== undefined && { api }),
      ...(konnectivity !== undefined && { konnectivity }),
    },
    worker: {},
    findings: [
      ...portFindings(object, `${path.join('.')}.port`, ingress, context),
      ...(isItself ? ownIngressFindings(object, ingress, context) : []),
    ],
  };
}

function portFindings(
  object: KubeObject,
  field: string,
  ingress: unknown,
  { edgePort }: ShimContext,
): readonly Finding[] {
  const port = numberAt(ingress, 'port') ?? DEFAULT_PORT;
  if (edgePort === undefined || edgePort === port) return [];
  return [
    {
      code: 'EdgePortUnsupported',
      severity: 'warning',
      message: `Field ${field} of ${objectText(object)} is ${port}, but the Edge uses ${edgePort}, which kubeconfigs and workers will use.`,
      action: `Set it to ${edgePort}, or choose an Edge with port ${port}.`,
    },
  ];
}

function ownIngressFindings(
  object: KubeObject,
  ingress: unknown,
  context: ShimContext,
): readonly Finding[] {
  if (isUnhandledClass(valueAt(ingress, 'className'), context)) return [];
  const { namespace } = object.metadata;
  const name = ingressName(object);
  const created = ingressFrom(ingress, name);
  if (created !== undefined && context.isRoute?.(created) === true) return [];
  const removal = `kubectl delete -n ${namespace} ingress ${name}`;
  if (valueAt(ingress, 'deploy') !== false) {
    const className = textAt(ingress, 'className') ?? 'none';
    const settings = [`class ${className}`, ...textMapAt(ingress, 'annotations').keys()].join(', ');
    return [
      {
        code: 'ProviderFeatureConflict',
        severity: 'warning',
        message: `k0smotron creates Ingress ${namespace}/${name} for spec.ingress of ${objectText(object)} (${quoted(settings)}), and Snicket creates routes for the same hosts.`,
        action: `Set spec.ingress.deploy: false, or set prepare: Force. Then delete the Ingress: ${removal}`,
      },
    ];
  }
  if (!context.ingressNames.has(name)) return [];
  return [
    {
      code: 'HostClaimed',
      severity: 'warning',
      message: `Ingress ${namespace}/${name}, which k0smotron did not delete, claims the hosts of Snicket's routes.`,
      action: removal,
    },
  ];
}
