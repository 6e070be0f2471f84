/**
 * Reads a control plane, whichever provider it is of.
 */
import type { Exposure } from '../api/exposure.ts';
import { keyText, type ObjectKey } from '../kube/object.ts';
import type { Finding } from '../api/finding.ts';
import type { ControlPlaneObjects, ControlPlaneReading } from './control-plane-reading.ts';
import { readPlain } from './plain.ts';
import { providerFor } from './provider-for.ts';

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
  if (provider === undefined || objects.object === undefined) {
    const why = provider === undefined ? 'that this version of Snicket knows' : 'that is read here';
    return { addresses: [], findings: [unknownProvider(ref, why)] };
  }
  const key = { name: ref.name, namespace: exposure.metadata.namespace };
  const object = await objects.object(provider.resource, key);
  if (object === undefined) return { addresses: [], findings: [missing(ref, key)] };
  return provider.read(object, objects);
}

function unknownProvider(ref: ProviderReference, why: string): Finding {
  return {
    ...{ code: 'ProviderUnknown', severity: 'error' },
    message: `${ref.apiVersion} ${ref.kind} is of no provider ${why}`,
    action: 'write spec.controlPlane.service in place of ref, with caSecret and kubeconfigSecret',
  };
}

function missing({ apiVersion, kind }: ProviderReference, key: ObjectKey): Finding {
  return {
    ...{ code: 'ControlPlaneMissing', severity: 'error' },
    message: `there is no ${kind} ${keyText(key)} of ${apiVersion}`,
    action: 'create it, or correct spec.controlPlane.ref',
  };
}
