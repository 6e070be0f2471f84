/**
 * The names of Exposures and Edges, for somebody who has pressed Tab: soon, or not at all.
 */
import type { KubeObject, ObjectKey } from '../../kube/object.ts';
import type { CommandIo } from '../io/command-io.ts';

/** A user who waits longer types on. */
export const ANSWER_TIMEOUT_MS = 2000;

/** What was asked of which cluster. */
export interface ExposureKeys {
  /** The namespace that is meant where none is written. */
  readonly namespace: string;
  readonly keys: readonly ObjectKey[];
}

/** What the flags of a command line say, by their long names. */
export type FlagTexts = ReadonlyMap<string, string>;

/**
 * The Exposures of the cluster that these flags mean. Nothing if it does not answer within {@link ANSWER_TIMEOUT_MS}, or
 * not at all.
 */
export async function exposureKeys(
  io: CommandIo,
  flags: FlagTexts,
): Promise<ExposureKeys | undefined> {
  return soon(io, ask(io, flags));
}

/** The Edges of that cluster; none if it does not answer in time, or not at all. */
export async function edgeNames(io: CommandIo, flags: FlagTexts): Promise<readonly string[]> {
  return (await soon(io, askEdges(io, flags))) ?? [];
}

/** What the work gives, if it does so in time. Whatever is said here would be written across the line that is typed. */
async function soon<T>({ clock }: CommandIo, work: Promise<T>): Promise<T | undefined> {
  const { promise: tooLate, resolve } = Promise.withResolvers<undefined>();
  const cancel = clock.after(ANSWER_TIMEOUT_MS, () => resolve(undefined));
  try {
    return await Promise.race([work, tooLate]);
  } catch {
    // The command itself will say what is wrong with the cluster, or with the kubeconfig.
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

/** What `snicket run` has, if the flags name its folder or its state. */
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
    // Not everybody may see those of all namespaces.
    if (!isKubeError(error, 'Forbidden') || named !== undefined) throw error;
    return { namespace, keys: await list(namespace) };
  }
}

/** As they are written: the name alone in the namespace that is meant, and with the namespace elsewhere. */
export function exposureTexts({ namespace, keys }: ExposureKeys): readonly string[] {
  const own = inNamespace(keys, namespace).map(({ name }) => name);
  const all = keys.map(({ name, namespace: of }) => `${of}/${name}`);
  return [...own.toSorted(), ...all.toSorted()];
}

function inNamespace(keys: readonly ObjectKey[], namespace: string): readonly ObjectKey[] {
  return keys.filter((key) => key.namespace === namespace);
}
