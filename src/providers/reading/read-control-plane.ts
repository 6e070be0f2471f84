/**
 * Reads a control plane of any provider.
 */
import type { Exposure } from '../../api/exposure.ts';
import { keyText, type ObjectKey } from '../../kube/object.ts';
import { groupOf, type Resource } from '../../kube/resource.ts';
import type { Finding } from '../../api/finding.ts';
import type { ControlPlaneObjects, ControlPlaneReading } from './control-plane-reading.ts';
import { readPlain } from '../plain.ts';
import { providerForReference, PROVIDERS } from '../provider-for.ts';

export type { ControlPlaneObjects, ControlPlaneReading } from './control-plane-reading.ts';

/** A reference to an object of a provider: `spec.controlPlane.objectRef`. */
interface ProviderReference {
  readonly group: string;
  readonly kind: string;
  readonly name: string;
}

/** Reads the control plane that an Exposure references. @throws the errors of reading objects */
export async function readControlPlane(
  exposure: Exposure,
  objects: ControlPlaneObjects,
): Promise<ControlPlaneReading> {
  const { objectRef } = exposure.spec.controlPlane;
  if (objectRef === undefined) return readPlain(exposure, objects);
  const provider = providerForReference(objectRef);
  if (provider === undefined) return { addresses: [], findings: [unknownProvider(objectRef)] };
  if (objects.object === undefined) return { addresses: [], findings: [unreadProvider(objectRef)] };
  const key = { name: objectRef.name, namespace: exposure.metadata.namespace };
  const object = await objects.object(provider.resource, key);
  if (object === undefined) return { addresses: [], findings: [missing(objectRef, key)] };
  return provider.read(object, objects);
}

const WITHOUT_PROVIDER =
  'set spec.controlPlane.type to Service, with service, caSecretRef and kubeconfigSecretRef';

function unknownProvider({ group, kind }: ProviderReference): Finding {
  return {
    code: 'ProviderUnknown',
    severity: 'error',
    message: `No provider that this version of Snicket supports has the kind ${kind} of group ${group}.`,
    action: `Correct spec.controlPlane.objectRef (${knownKinds()}), or ${WITHOUT_PROVIDER}.`,
  };
}

function unreadProvider({ group, kind }: ProviderReference): Finding {
  return {
    code: 'ProviderUnknown',
    severity: 'error',
    message: `Objects of kind ${kind} of group ${group} cannot be read here.`,
    action: WITHOUT_PROVIDER,
  };
}

/** Returns the supported kinds for messages, `Cluster of k0smotron.io, ...`: each kind once, with its groups. */
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

function missing({ group, kind }: ProviderReference, key: ObjectKey): Finding {
  return {
    code: 'ControlPlaneMissing',
    severity: 'error',
    message: `${kind} ${keyText(key)} of ${group} does not exist.`,
    action: 'Create it, or correct spec.controlPlane.objectRef.',
  };
}
