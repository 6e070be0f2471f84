/**
 * What a TenantControlPlane of Steward says of its host and of the proxy on its workers.
 */
import { listAt, textAt, valueAt } from '../../edges/fields.ts';
import { objectText, type KubeObject } from '../../kube/object.ts';
import type { Finding } from '../../api/finding.ts';
import { stewardKonnectivityHost } from '../steward.ts';
import { hasKonnectivity } from '../tenant-control-plane.ts';
import { ownIngressFindings, publicHost } from './kamaji-words.ts';
import type { ShimWords } from './shim-words.ts';

const PROXY = ['spec', 'addons', 'tcpProxy'] as const;
/** Its flags are not those of ours. */
const STEWARD_IMAGE = /(^|\/)steward-tcp-proxy([:@]|$)/;

/** The words of a tenant: both hosts, and image, resources and hosts file of its proxy. */
export function stewardWords(object: KubeObject): ShimWords {
  const api = publicHost(object);
  const konnectivity =
    api === undefined || !hasKonnectivity(object) ? undefined : stewardKonnectivityHost(api);
  const image = textAt(object, ...PROXY, 'image');
  const resources = valueAt(object, ...PROXY, 'resources');
  const hostAliases = listAt(object, ...PROXY, 'hostAliases');
  return {
    hosts: {
      ...(api !== undefined && { api }),
      ...(konnectivity !== undefined && { konnectivity }),
    },
    worker: {
      ...(image !== undefined && !STEWARD_IMAGE.test(image) && { image }),
      ...(resources !== undefined && { resources: quantitiesIn(resources) }),
      ...(hostAliases.length > 0 && { hostAliases }),
    },
    findings: [...proxyFindings(object), ...ownIngressFindings(object, 'Steward')],
  };
}

/** A Pod may claim devices too; a proxy needs none. */
function quantitiesIn(resources: unknown): Readonly<Record<string, unknown>> {
  const [requests, limits] = [valueAt(resources, 'requests'), valueAt(resources, 'limits')];
  return { ...(requests !== undefined && { requests }), ...(limits !== undefined && { limits }) };
}

function proxyFindings(object: KubeObject): readonly Finding[] {
  if (valueAt(object, ...PROXY) === undefined) return [];
  return [
    {
      ...{ code: 'ProviderMakesProxy', severity: 'warning' },
      message: `${objectText(object)} has spec.addons.tcpProxy, so Steward's proxy runs in the tenant, and writes the endpoints that Snicket's would; its image, resources and hostAliases are those of the Exposure`,
      action:
        'write them in spec.worker of an Exposure of your own, and remove spec.addons.tcpProxy: then Snicket does what Steward did',
    },
  ];
}
