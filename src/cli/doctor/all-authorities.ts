/**
 * The CAs of all tenants, to tell whose a certificate is that comes from the wrong place.
 */
import { isKubeError } from '../../kube/kube-error.ts';
import { keyText } from '../../kube/object.ts';
import { controlPlaneObjects } from '../../operator/look.ts';
import type { ManagementSnapshot } from '../../operator/management/management-snapshot.ts';
import { KnownAuthorities } from '../../probe/tls/authorities.ts';
import { readControlPlane } from '../../providers/read-control-plane.ts';

/** How many are read together. */
const TOGETHER = 16;

/** Those that can be read; the others are told from nobody. */
export async function allAuthorities(
  management: ManagementSnapshot,
  signal: AbortSignal,
): Promise<KnownAuthorities> {
  const known = new KnownAuthorities();
  const { exposures, book } = management;
  for (let at = 0; at < exposures.length; at += TOGETHER) {
    const some = exposures.slice(at, at + TOGETHER);
    await Promise.all(
      some.map(async (object) => {
        const { value: exposure } = book.exposureIn(object);
        if (exposure === undefined) return;
        try {
          const objects = controlPlaneObjects(management, signal);
          const { controlPlane } = await readControlPlane(exposure, objects);
          const { certificate } = controlPlane?.ca ?? {};
          if (certificate !== undefined) known.set(keyText(object.metadata), certificate);
        } catch (error) {
          if (!isKubeError(error) && !(error instanceof TypeError)) throw error;
        }
      }),
    );
  }
  return known;
}
