/**
 * Reads a control plane, whichever provider it is of.
 */
import type { Exposure } from '../../api/exposure.ts';
import { keyText, type ObjectKey } from '../../kube/object.ts';
import { groupOf, type Resource } from '../../kube/resource.ts';
import type { Finding } from '../../api/finding.ts';
import type { ControlPlaneObjects, ControlPlaneReading } from './control-plane-reading.ts';
import { readPlain } from '../plain.ts';
import { providerFor, PROVIDERS } from '../provider-for.ts';

export type { ControlPlaneObjects, ControlPlaneReading } from './control-plane-reading.ts';

/** A reference to an object of a provider, as an Exposure has it. */
export interface ProviderReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
}

/** What is known of the control plane that an Exposure names. @throws what reading objects throws */
export async function readControlPlane(
  exposure: Exposure,
  objects: ControlPlaneObjects,
): Promise<ControlPlaneReading> {
  const { ref } = exposure.spec.controlPlane;
  if (ref === undefined) return readPlain(exposure, objects);
  const provider = providerFor(ref);
  if (provider === undefined) return { addresses: [], findings: [unknownProvider(ref)] };
  if (objects.object === undefined) return { addresses: [], findings: [unreadProvider(ref)] };
  const key = { name: ref.name, namespace: exposure.metadata.namespace };
  const object = await objects.object(provider.resource, key);
  if (object === undefined) return { addresses: [], findings: [missing(ref, key)] };
  return provider.read(object, objects);
}

const IN_ITS_PLACE =
  'write spec.controlPlane.service in its place, with caSecret and kubeconfigSecret';

function unknownProvider(ref: ProviderReference): Finding {
  return {
    ...{ code: 'ProviderUnknown', severity: 'error' },
    message: `${ref.apiVersion} ${ref.kind} is of no provider that this version of Snicket knows`,
    action: `correct spec.controlPlane.ref (${knownKinds()}), or ${IN_ITS_PLACE}`,
  };
}

function unreadProvider(ref: ProviderReference): Finding {
  return {
    ...{ code: 'ProviderUnknown', severity: 'error' },
    message: `${ref.apiVersion} ${ref.kind} is of no provider that is read here`,
    action: IN_ITS_PLACE,
  };
}

/** `Cluster of k0smotron.io, ...`: each kind once, with the groups that have it. */
function knownKinds(): string {
  const resources = Object.values(PROVIDERS).map(({ resource }) => resource);
  const byKind = Map.groupBy(resources, ({ kind }) => kind);
  return [...byKind]
    .map(([kind, ofKind]) => `${kind} of ${ofKind.map(groupIn).join(' or of ')}`)
    .join(', ');
}

function groupIn({ apiVersion }: Resource): string {
  return groupOf(apiVersion);
}

function missing({ apiVersion, kind }: ProviderReference, key: ObjectKey): Finding {
  return {
    ...{ code: 'ControlPlaneMissing', severity: 'error' },
    message: `there is no ${kind} ${keyText(key)} of ${apiVersion}`,
    action: 'create it, or correct spec.controlPlane.ref',
  };
}
