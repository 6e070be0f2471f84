/**
 * The names of Exposures, for somebody who has pressed Tab: soon, or not at all.
 */
import type { ClusterAccess } from '../../kube/cluster-access.ts';
import type { ObjectKey } from '../../kube/object.ts';

/** A person who waits longer types on. */
export const PATIENCE_MS = 2000;

/** What was asked of which cluster. */
export interface ExposureKeys {
  /** The namespace that is meant where none is written. */
  readonly namespace: string;
  readonly keys: readonly ObjectKey[];
}

/**
 * The Exposures of the cluster that these flags mean. Nothing if it does not answer in time, or not at all: whatever is said
 * here would be written across the line that somebody is typing.
 */
export async function exposureKeys(
  flags: ReadonlyMap<string, string>,
  timeoutMs: number = PATIENCE_MS,
): Promise<ExposureKeys | undefined> {
  const { promise: tooLate, resolve } = Promise.withResolvers<undefined>();
  const timer = setTimeout(() => resolve(undefined), timeoutMs);
  try {
    return await Promise.race([ask(flags, timeoutMs), tooLate]);
  } catch {
    // The command itself will say what is wrong with the cluster, or with the kubeconfig.
    return undefined;
  } finally {
    clearTimeout(timer);
  }
}

async function ask(flags: ReadonlyMap<string, string>, timeoutMs: number): Promise<ExposureKeys> {
  const [{ defaultAccess }, { createClient }, { isKubeError }, { RESOURCES }] = await Promise.all([
    import('../../kube/cluster-access-default.ts'),
    import('../../kube/fetch-client.ts'),
    import('../../kube/kube-error.ts'),
    import('../../kube/resource.ts'),
  ]);
  const access: ClusterAccess = defaultAccess({
    kubeconfig: flags.get('--kubeconfig'),
    context: flags.get('--context'),
  });
  const client = createClient(access, { timeoutMs });
  const named = flags.get('--namespace');
  const list = async (namespace?: string) => {
    const { items } = await client.list(RESOURCES.exposure, {
      namespace,
      trim: ({ apiVersion, kind, metadata: { name, namespace: of } }) => ({
        ...{ apiVersion, kind, metadata: { name, namespace: of } },
      }),
    });
    return items.map(({ metadata }) => metadata);
  };
  const namespace = named ?? access.namespace;
  try {
    return { namespace, keys: await list(named) };
  } catch (error) {
    // Not everybody may see those of all namespaces.
    if (!isKubeError(error, 'Forbidden') || named !== undefined) throw error;
    return { namespace, keys: await list(namespace) };
  }
}

/** As they are written: the name alone in the namespace that is meant, and with the namespace elsewhere. */
export function exposureTexts({ namespace, keys }: ExposureKeys): readonly string[] {
  const own = keys.filter((key) => key.namespace === namespace).map(({ name }) => name);
  const all = keys.map(({ name, namespace: of }) => `${of}/${name}`);
  return [...own.toSorted(), ...all.toSorted()];
}
