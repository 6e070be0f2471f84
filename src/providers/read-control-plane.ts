/**
 * Reads a control plane, whichever provider it is of.
 */
import type { Exposure } from '../api/exposure.ts';
import { readPlain, type ControlPlaneObjects, type ControlPlaneReading } from './plain.ts';

export type { ControlPlaneObjects, ControlPlaneReading } from './plain.ts';

/** What is known of the control plane that an Exposure names. @throws what reading objects throws */
export async function readControlPlane(
  exposure: Exposure,
  objects: ControlPlaneObjects,
): Promise<ControlPlaneReading> {
  const { ref } = exposure.spec.controlPlane;
  if (ref === undefined) return readPlain(exposure, objects);
  return {
    addresses: [],
    findings: [
      {
        ...{ code: 'ProviderUnknown', severity: 'error' },
        message: `${ref.apiVersion} ${ref.kind} is of no provider that this version of Snicket knows`,
        action:
          'write spec.controlPlane.service in place of ref, with caSecret and kubeconfigSecret',
      },
    ],
  };
}
