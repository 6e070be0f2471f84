/**
 * For tests only: a client whose writes reach the server, and are logged in the form in which a dry run records them.
 */
import type { KubeClient } from '../../kube/client/client.ts';
import { forwardedReads } from '../../kube/client/forwarded-reads.ts';
import type { RecordedWrite } from '../../kube/client/recording-client.ts';
import type { KubeObject, ObjectKey } from '../../kube/object.ts';
import { resourceOf, type Resource } from '../../kube/resource.ts';
import type { ObjectStore } from '../../kube/store/object-store.ts';

/** The same client. `writes` receives every write that changes an object of `store`. */
export function loggedClient(
  client: KubeClient,
  store: ObjectStore,
  writes: RecordedWrite[],
): KubeClient {
  async function logged<T>(
    verb: RecordedWrite['verb'],
    resource: Resource,
    key: ObjectKey,
    write: () => Promise<T>,
    applied?: KubeObject,
  ): Promise<T> {
    const before = store.get(resource, key);
    const result = await write();
    const after = store.get(resource, key);
    if (before !== after) {
      writes.push({
        verb,
        resource,
        before,
        after,
        ...(applied !== undefined && { applied }),
      });
    }
    return result;
  }
  return {
    ...forwardedReads(client),
    create: async (resource, object, ...rest) =>
      logged('create', resource, object.metadata, async () =>
        client.create(resource, object, ...rest),
      ),
    replace: async (resource, object, ...rest) =>
      logged('replace', resource, object.metadata, async () =>
        client.replace(resource, object, ...rest),
      ),
    apply: async (object, options = {}) =>
      logged(
        'apply',
        options.resource ?? resourceOf(object),
        object.metadata,
        async () => client.apply(object, options),
        object,
      ),
    patch: async (resource, key, ...rest) =>
      logged('patch', resource, key, async () => client.patch(resource, key, ...rest)),
    delete: async (resource, key, ...rest) =>
      logged('delete', resource, key, async () => client.delete(resource, key, ...rest)),
  };
}
