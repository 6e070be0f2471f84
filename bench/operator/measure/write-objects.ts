/** Creates many objects with limited concurrency. */
import type { KubeClient } from '../../../src/kube/client/client.ts';
import { resourceOf } from '../../../src/kube/resource.ts';
import type { AnyObject } from '../objects.ts';

const CONCURRENCY = 16;

/** Creates all objects. */
export async function writeObjects(
  client: KubeClient,
  objects: readonly AnyObject[],
): Promise<void> {
  const remaining = objects.values();
  await Promise.all(
    Array.from({ length: CONCURRENCY }, async () => {
      for (const object of remaining) await client.create(resourceOf(object), object);
    }),
  );
}
