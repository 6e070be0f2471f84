/**
 * The host and the proxy settings in the spec of a Steward TenantControlPlane.
 */
import type * as z from 'zod';
import { faultsOf, sentenceOf } from '../../api/fault.ts';
import { workerSpec } from '../../api/worker.ts';
import { listAt, textAt, valueAt } from '../../kube/unstructured.ts';
import { objectText, type KubeObject } from '../../kube/object.ts';
import type { Finding } from '../../api/finding.ts';
import { quoted } from '../../text/quote.ts';
import { stewardKonnectivityHost } from '../steward.ts';
import { hasKonnectivity } from '../tenant-control-plane.ts';
import { ownIngressFindings, publicHost } from './kamaji-intent.ts';
import { retainedWorker } from './retained-worker.ts';
import type { ShimContext, ShimIntent } from './shim-intent.ts';
import { sentence } from '../../text/sentence.ts';

const PROXY = ['spec', 'addons', 'tcpProxy'] as const;
/** Recognizes an image of Snicket by its name. Other images do not accept Snicket's flags. */
const OWN_IMAGE = /(^|\/)[^/:@]*snicket[^/:@]*([:@][^/]*)?$/;

/** Returns the intent of a tenant: both hosts, and the image, resources and host aliases of its proxy. */
export function stewardIntent(object: KubeObject, context: ShimContext): ShimIntent {
  const { existing } = context;
  const api = publicHost(object);
  const konnectivity =
    api === undefined || !hasKonnectivity(object) ? undefined : stewardKonnectivityHost(api);
  const hasProxy = valueAt(object, ...PROXY) !== undefined;
  const { worker, findings } = hasProxy
    ? proxyIntent(object)
    : { worker: retainedWorker(existing), findings: [] };
  return {
    hosts: {
      ...(api !== undefined && { api }),
      ...(konnectivity !== undefined && { konnectivity }),
    },
    worker,
    findings: [...findings, ...ownIngressFindings(object, 'Steward', context)],
  };
}

/** Returns the settings of Steward's proxy that Snicket's proxy has too. */
function proxyIntent(object: KubeObject): Pick<ShimIntent, 'worker' | 'findings'> {
  const image = textAt(object, ...PROXY, 'image');
  const resources = valueAt(object, ...PROXY, 'resources');
  const hostAliases = listAt(object, ...PROXY, 'hostAliases');
  const wanted = {
    ...(image !== undefined && OWN_IMAGE.test(image) && { image }),
    ...(resources !== undefined && { resources: quantitiesIn(resources) }),
    ...(hostAliases.length > 0 && { hostAliases }),
  };
  const worker: Record<string, unknown> = {};
  const findings = [ownProxy(object)];
  if (image !== undefined && !OWN_IMAGE.test(image)) findings.push(foreignImage(object, image));
  if (listAt(resources, 'claims').length > 0) findings.push(claimsDropped(object));
  for (const [field, value] of Object.entries(wanted)) {
    const { error } = workerSpec.safeParse({ [field]: value }, { error: sentenceOf });
    if (error === undefined) worker[field] = value;
    else findings.push(invalidSetting(object, field, error));
  }
  return { worker, findings };
}

/** Pods can also claim devices, which the proxy does not need. */
function quantitiesIn(resources: unknown): Readonly<Record<string, unknown>> {
  const [requests, limits] = [valueAt(resources, 'requests'), valueAt(resources, 'limits')];
  return { ...(requests !== undefined && { requests }), ...(limits !== undefined && { limits }) };
}

function ownProxy(object: KubeObject): Finding {
  return {
    code: 'ProviderFeatureConflict',
    severity: 'warning',
    message: `${objectText(object)} has spec.addons.tcpProxy, so Steward's proxy runs in the tenant and writes the same endpoints as Snicket. Its resources, its hostAliases and an image of Snicket are copied to spec.worker of the Exposure.`,
    action:
      'Remove spec.addons.tcpProxy. Snicket then takes over, and the Exposure keeps these settings.',
  };
}

function foreignImage(object: KubeObject, image: string): Finding {
  return droppedSetting(
    `Image ${quoted(image)} in spec.addons.tcpProxy of ${objectText(object)} does not look like an image of Snicket, so the proxies use the image of the operator.`,
    'If it is an image of Snicket under another name, set spec.worker.image of the Exposure to it.',
  );
}

function claimsDropped(object: KubeObject): Finding {
  return droppedSetting(
    `Field spec.addons.tcpProxy.resources.claims of ${objectText(object)} requests devices, which the proxies of Snicket do not use.`,
    'No action is needed.',
  );
}

function invalidSetting(object: KubeObject, field: string, error: z.ZodError): Finding {
  const sentences = faultsOf(error.issues)
    .map(({ path, sentence }) => `${path}: ${sentence}`)
    .join('. ');
  return droppedSetting(
    sentence(
      `Field spec.addons.tcpProxy.${field} of ${objectText(object)} is invalid in an Exposure: ${quoted(sentences)}`,
    ),
    `Set spec.worker.${field} of the Exposure instead.`,
  );
}

function droppedSetting(message: string, action: string): Finding {
  return { code: 'ProxySettingIgnored', severity: 'warning', message, action };
}
