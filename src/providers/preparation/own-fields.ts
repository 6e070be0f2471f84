/**
 * The fields that Snicket writes, of every kind. A record is on somebody's object, where others can write too: whatever it
 * says, no other field is put back.
 */
import { groupOf } from '../../kube/resource.ts';
import { pathText, type FieldPath } from './preparation.ts';

const TENANT_CONTROL_PLANE = [
  '.spec.controlPlane.ingress.hostname',
  '.spec.controlPlane.ingress.ingressClassName',
  '.spec.controlPlane.deployment.extraArgs.apiServer',
  '.spec.networkProfile.certSANs',
] as const;

const K0S = [
  '.spec.ingress.deploy',
  '.spec.ingress.apiHost',
  '.spec.ingress.konnectivityHost',
  '.spec.ingress.port',
  '.spec.externalAddress',
  '.spec.patches',
] as const;

const CHART_INGRESS = ['enabled', 'deploy', 'apiHost', 'konnectivityHost', 'port', 'className'];

/** By group and kind. */
const OWN_FIELDS: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  [
    'kamaji.clastix.io TenantControlPlane',
    new Set([...TENANT_CONTROL_PLANE, '.spec.addons.konnectivity.agent.extraArgs']),
  ],
  [
    'steward.butlerlabs.dev TenantControlPlane',
    new Set([...TENANT_CONTROL_PLANE, '.spec.controlPlane.ingress.controllerType']),
  ],
  ['k0smotron.io Cluster', new Set(K0S)],
  ['controlplane.cluster.x-k8s.io K0smotronControlPlane', new Set(K0S)],
  [
    'k0rdent.mirantis.com ClusterDeployment',
    new Set([
      ...CHART_INGRESS.flatMap((field) => [
        `.spec.config.ingress.${field}`,
        `.spec.config.controlPlane.ingress.${field}`,
      ]),
      '.spec.config.k0smotron.service.type',
      '.spec.config.controlPlane.service.type',
    ]),
  ],
]);

/** Whether it is a field that Snicket writes into objects of this kind, whatever their version. */
export function isOwnField(
  { apiVersion, kind }: { readonly apiVersion: string; readonly kind: string },
  path: FieldPath,
): boolean {
  // A name with dots in it is none of ours.
  if (path.some((name) => name.includes('.'))) return false;
  return OWN_FIELDS.get(`${groupOf(apiVersion)} ${kind}`)?.has(pathText(path)) === true;
}
