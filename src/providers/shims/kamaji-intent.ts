/**
 * The hosts in the spec and annotations of a Kamaji TenantControlPlane.
 */
import { textAt } from '../../kube/unstructured.ts';
import type { KubeObject } from '../../kube/object.ts';
import type { Finding } from '../../api/finding.ts';
import { quoted } from '../../text/quote.ts';
import { isUnhandledClass, UNHANDLED_CLASS } from '../preparation/ingress-class.ts';
import { hasKonnectivity } from '../tenant-control-plane.ts';
import { KAMAJI_DOMAIN_ANNOTATION } from './annotations.ts';
import type { ShimContext, ShimIntent } from './shim-intent.ts';

/**
 * Returns the intent of a tenant: the hosts that the closed-source addon would generate from its domain, or the host of
 * its Ingress.
 */
export function kamajiIntent(object: KubeObject, context: ShimContext): ShimIntent {
  const { namespace, name, annotations = {} } = object.metadata;
  const domain = annotations[KAMAJI_DOMAIN_ANNOTATION];
  const host = publicHost(object);
  const hosts =
    domain === undefined
      ? { ...(host !== undefined && { api: host }) }
      : {
          api: `${namespace}-${name}.k8s.${domain}`,
          ...(hasKonnectivity(object) && {
            konnectivity: `${namespace}-${name}.konnectivity.${domain}`,
          }),
        };
  return {
    hosts,
    worker: {},
    findings: [
      ...(domain === undefined ? [] : addonFindings(object, context)),
      ...ownIngressFindings(object, 'Kamaji', context),
    ],
  };
}

/** Returns the host of the Ingress that the provider creates, without its port. */
export function publicHost(object: KubeObject): string | undefined {
  return textAt(object, 'spec', 'controlPlane', 'ingress', 'hostname')?.replace(/:\d+$/, '');
}

/** The addon uses the uid of the tenant as the name of its Ingress. */
function addonFindings(
  { metadata }: KubeObject,
  { ingressNames, areRoutesOfUser }: ShimContext,
): readonly Finding[] {
  const { uid = '', namespace } = metadata;
  if (areRoutesOfUser === true || !ingressNames.has(uid)) return [];
  return [
    {
      code: 'HostClaimed',
      severity: 'warning',
      message: `Ingress ${namespace}/${uid} of Kamaji's ingress addon claims the same hosts as Snicket's routes.`,
      action: `Uninstall the addon, and then delete the Ingress: kubectl delete -n ${namespace} ingress ${uid}`,
    },
  ];
}

/** Warns about an Ingress of the provider for the same host, unless no controller handles its class. */
export function ownIngressFindings(
  object: KubeObject,
  displayName: string,
  context: ShimContext,
): readonly Finding[] {
  const host = publicHost(object);
  const className = textAt(object, 'spec', 'controlPlane', 'ingress', 'ingressClassName');
  if (host === undefined || context.areRoutesOfUser === true) return [];
  if (isUnhandledClass(className, context)) return [];
  const { namespace, name } = object.metadata;
  return [
    {
      code: 'ProviderFeatureConflict',
      severity: 'warning',
      message: `${displayName} creates Ingress ${namespace}/${name} for ${quoted(host)} (class ${quoted(className ?? 'none')}), and Snicket creates a route for the same host.`,
      action: `Set ingressClassName: ${UNHANDLED_CLASS} in spec.controlPlane.ingress, or set prepare: Force.`,
    },
  ];
}
