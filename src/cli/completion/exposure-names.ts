/**
 * Names of Exposures and Edges for shell completion, read within a time limit.
 */
import type { KubeObject, ObjectKey } from '../../kube/object.ts';
import type { CommandIo } from '../io/command-io.ts';

/** Time limit of a completion, in milliseconds. Users do not wait longer. */
export const ANSWER_TIMEOUT_MS = 2000;

/** The Exposures of a cluster or folder, and the namespace that applies by default. */
export interface ExposureKeys {
  /** The namespace of a name without one. */
  readonly namespace: string;
  readonly keys: readonly ObjectKey[];
}

/** Values of the flags on a command line, by long name. */
export type FlagTexts = ReadonlyMap<string, string>;

/**
 * Returns the Exposures of the cluster that the flags select, or undefined if it fails or does not answer within
 * {@link ANSWER_TIMEOUT_MS}.
 */
export async function exposureKeys(
  io: CommandIo,
  flags: FlagTexts,
): Promise<ExposureKeys | undefined> {
  return soon(io, ask(io, flags));
}

/** Returns the names of the Edges of that cluster; empty if it fails or does not answer in time. */
export async function edgeNames(io: CommandIo, flags: FlagTexts): Promise<readonly string[]> {
  return (await soon(io, askEdges(io, flags))) ?? [];
}

/**
 * Returns the result of `work`, or undefined if it fails or takes too long. Prints nothing, because output would land
 * in the line that the user is typing.
 */
async function soon<T>({ clock }: CommandIo, work: Promise<T>): Promise<T | undefined> {
  const { promise: tooLate, resolve } = Promise.withResolvers<undefined>();
  const cancel = clock.after(ANSWER_TIMEOUT_MS, () => resolve(undefined));
  try {
    return await Promise.race([work, tooLate]);
  } catch {
    // The command itself reports what is wrong with the cluster or the kubeconfig.
    return undefined;
  } finally {
    cancel();
  }
}

async function askEdges(io: CommandIo, flags: FlagTexts): Promise<readonly string[]> {
  const onDisk = await objectsOnDisk(io, flags);
  if (onDisk !== undefined) return keysOf(onDisk, 'Edge').map(({ name }) => name);
  const { client } = await open(io, flags);
  const { RESOURCES } = await import('../../kube/resource.ts');
  const { items } = await client.list(RESOURCES.edge);
  return items.map(({ metadata }) => metadata.name).toSorted();
}

async function open(io: CommandIo, flags: FlagTexts) {
  const [{ accessOptions }, { defaultAccess }, { createClient }] = await Promise.all([
    import('../io/access-options.ts'),
    import('../../kube/access/default-access.ts'),
    import('../../kube/client/fetch-client.ts'),
  ]);
  const access = defaultAccess(
    accessOptions(io, flags.get('--kubeconfig'), flags.get('--context')),
  );
  return {
    access,
    client: createClient(access, { timeoutMs: ANSWER_TIMEOUT_MS, clock: io.clock }),
  };
}

/** Returns the objects of `snicket run` if the flags name its folder or its state. */
async function objectsOnDisk(
  io: CommandIo,
  flags: FlagTexts,
): Promise<readonly KubeObject[] | undefined> {
  const folder = flags.get('--filename');
  if (folder !== undefined) {
    const { readFolder } = await import('../../standalone/read-folder.ts');
    return (await readFolder(io.path(folder), io.clock.timeoutSignal(ANSWER_TIMEOUT_MS))).objects;
  }
  const state = flags.get('--state');
  if (state === undefined) return undefined;
  const { StateSource } = await import('../status/state-source.ts');
  const { edges = [], exposures } = await new StateSource(state, {}, io.path(state)).read();
  return [...edges, ...exposures];
}

function keysOf(objects: readonly KubeObject[], kind: string): readonly ObjectKey[] {
  const ofKind = objects.filter((object) => object.kind === kind);
  return ofKind.map(({ metadata }) => metadata).toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

async function ask(io: CommandIo, flags: FlagTexts): Promise<ExposureKeys> {
  const onDisk = await objectsOnDisk(io, flags);
  if (onDisk !== undefined) {
    const namespace = flags.get('--namespace') ?? 'default';
    const keys = keysOf(onDisk, 'Exposure');
    return { namespace, keys: flags.has('--namespace') ? inNamespace(keys, namespace) : keys };
  }
  const [{ access, client }, { isKubeError }, { RESOURCES }] = await Promise.all([
    open(io, flags),
    import('../../kube/kube-error.ts'),
    import('../../kube/resource.ts'),
  ]);
  const named = flags.get('--namespace');
  const list = async (namespace?: string) => {
    const { items } = await client.list(RESOURCES.exposure, {
      namespace,
      trim: ({ apiVersion, kind, metadata: { name, namespace: of } }) => ({
        apiVersion,
        kind,
        metadata: { name, namespace: of },
      }),
    });
    return items.map(({ metadata }) => metadata);
  };
  const namespace = named ?? access.namespace;
  try {
    return { namespace, keys: await list(named) };
  } catch (error) {
    // The user may lack permission to list Exposures in all namespaces.
    if (!isKubeError(error, 'Forbidden') || named !== undefined) throw error;
    return { namespace, keys: await list(namespace) };
  }
}

/** Returns the Exposures as users type them: NAME in the default namespace, and NAMESPACE/NAME for all. */
export function exposureTexts({ namespace, keys }: ExposureKeys): readonly string[] {
  const own = inNamespace(keys, namespace).map(({ name }) => name);
  const all = keys.map(({ name, namespace: of }) => `${of}/${name}`);
  return [...own.toSorted(), ...all.toSorted()];
}

function inNamespace(keys: readonly ObjectKey[], namespace: string): readonly ObjectKey[] {
  return keys.filter((key) => key.namespace === namespace);
}
