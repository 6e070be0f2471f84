/**
 * The CAs of all tenants, to identify the tenant of an unexpected certificate.
 */
import type { Exposure } from '../../api/exposure.ts';
import { isKubeError } from '../../kube/kube-error.ts';
import { keyText } from '../../kube/object.ts';
import { controlPlaneObjects } from '../../management/control-plane-objects.ts';
import type { ManagementSnapshot } from '../../management/management-snapshot.ts';
import { KnownAuthorities } from '../../probe/tls/authorities.ts';
import {
  readControlPlane,
  type ControlPlaneObjects,
} from '../../providers/reading/read-control-plane.ts';

/** Maximum number of concurrent reads. */
const MAX_CONCURRENT = 16;

/** Returns the CAs that can be read. Without its CA, a tenant cannot be identified by a certificate. */
export async function allAuthorities(
  management: ManagementSnapshot,
  signal: AbortSignal,
): Promise<KnownAuthorities> {
  const known = new KnownAuthorities();
  const { exposures, exposureIndex } = management;
  for (let at = 0; at < exposures.length; at += MAX_CONCURRENT) {
    const some = exposures.slice(at, at + MAX_CONCURRENT);
    await Promise.all(
      some.map(async (object) => {
        const { value: exposure } = exposureIndex.exposureIn(object);
        if (exposure === undefined) return;
        const certificate = await authorityOf(exposure, controlPlaneObjects(management, signal));
        if (certificate !== undefined) known.set(keyText(object.metadata), certificate);
      }),
    );
  }
  return known;
}

/** Returns the CA of an Exposure's tenant, or undefined if it cannot be read. */
async function authorityOf(
  exposure: Exposure,
  objects: ControlPlaneObjects,
): Promise<string | undefined> {
  try {
    const { controlPlane } = await readControlPlane(exposure, objects);
    return controlPlane?.ca?.certificate;
  } catch (error) {
    if (isKubeError(error)) return undefined;
    throw error;
  }
}
