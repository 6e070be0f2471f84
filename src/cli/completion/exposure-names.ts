/**
 * Names of Exposures and Edges for shell completion, read from a cluster or from files.
 */
import type { KubeObject, ObjectKey } from '../../kube/object.ts';
import type { CommandIo } from '../io/command-io.ts';

/** The timeout of a completion. The shell is blocked until it ends. */
export const COMPLETION_TIMEOUT_MS = 2000;

/** The Exposures of a cluster or folder, and the namespace that applies by default. */
interface ExposureKeys {
  /** The namespace of an Exposure that is named without a namespace. */
  readonly namespace: string;
  readonly keys: readonly ObjectKey[];
}

/** The values of the flags on a command line, by long name. */
export type FlagValues = ReadonlyMap<string, string>;

/**
 * Returns the Exposures of the cluster or files that the flags select; undefined if reading fails or exceeds
 * {@link COMPLETION_TIMEOUT_MS}.
 */
export async function exposureKeys(
  io: CommandIo,
  flags: FlagValues,
): Promise<ExposureKeys | undefined> {
  return withTimeout(io, readExposureKeys(io, flags));
}

/** Returns the names of the Edges; an empty list if reading fails or exceeds the timeout. */
export async function edgeNames(io: CommandIo, flags: FlagValues): Promise<readonly string[]> {
  return (await withTimeout(io, readEdgeNames(io, flags))) ?? [];
}

/**
 * Returns the result of `work`, or undefined if it fails or exceeds the timeout. Prints nothing, because the terminal
 * would show the output in the middle of the command line.
 */
async function withTimeout<T>({ clock }: CommandIo, work: Promise<T>): Promise<T | undefined> {
  const { promise: timeout, resolve } = Promise.withResolvers<undefined>();
  const cancel = clock.after(COMPLETION_TIMEOUT_MS, () => resolve(undefined));
  try {
    return await Promise.race([work, timeout]);
  } catch {
    // The command itself reports errors of the cluster or the kubeconfig.
    return undefined;
  } finally {
    cancel();
  }
}

async function readEdgeNames(io: CommandIo, flags: FlagValues): Promise<readonly string[]> {
  const onDisk = await objectsOnDisk(io, flags);
  if (onDisk !== undefined) return keysOf(onDisk, 'Edge').map(({ name }) => name);
  const { client } = await openCluster(io, flags);
  const { RESOURCES } = await import('../../kube/resource.ts');
  const { items } = await client.list(RESOURCES.edge);
  return items.map(({ metadata }) => metadata.name).toSorted();
}

async function openCluster(io: CommandIo, flags: FlagValues) {
  const [{ openAccess }, { createClient }] = await Promise.all([
    import('../io/open-access.ts'),
    import('../../kube/client/fetch-client.ts'),
  ]);
  const access = openAccess(io, {
    kubeconfig: flags.get('--kubeconfig'),
    context: flags.get('--context'),
  });
  return {
    access,
    client: createClient(access, { timeoutMs: COMPLETION_TIMEOUT_MS, clock: io.clock }),
  };
}

/** Returns the objects of `snicket run` if the flags select its folder or its state; undefined otherwise. */
async function objectsOnDisk(
  io: CommandIo,
  flags: FlagValues,
): Promise<readonly KubeObject[] | undefined> {
  const folder = flags.get('--filename');
  if (folder !== undefined) {
    const { readFolder } = await import('../../standalone/read-folder.ts');
    return (await readFolder(io.path(folder), io.clock.timeoutSignal(COMPLETION_TIMEOUT_MS)))
      .objects;
  }
  const state = flags.get('--state');
  if (state === undefined) return undefined;
  const { StateSource } = await import('../status/state-source.ts');
  const { edges = [], exposures } = await new StateSource(
    state,
    {},
    {
      path: io.path(state),
    },
  ).read();
  return [...edges, ...exposures];
}

function keysOf(objects: readonly KubeObject[], kind: string): readonly ObjectKey[] {
  const ofKind = objects.filter((object) => object.kind === kind);
  return ofKind.map(({ metadata }) => metadata).toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

async function readExposureKeys(io: CommandIo, flags: FlagValues): Promise<ExposureKeys> {
  const onDisk = await objectsOnDisk(io, flags);
  if (onDisk !== undefined) {
    const namespace = flags.get('--namespace') ?? 'default';
    const keys = keysOf(onDisk, 'Exposure');
    return { namespace, keys: flags.has('--namespace') ? inNamespace(keys, namespace) : keys };
  }
  const [{ access, client }, { isKubeError }, { RESOURCES }] = await Promise.all([
    openCluster(io, flags),
    import('../../kube/kube-error.ts'),
    import('../../kube/resource.ts'),
  ]);
  const flagNamespace = flags.get('--namespace');
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
  const namespace = flagNamespace ?? access.namespace;
  try {
    return { namespace, keys: await list(flagNamespace) };
  } catch (error) {
    // The user may lack permission to list Exposures in all namespaces.
    if (!isKubeError(error, 'Forbidden') || flagNamespace !== undefined) throw error;
    return { namespace, keys: await list(namespace) };
  }
}

/** Returns arguments that select the Exposures: NAME in the default namespace, and NAMESPACE/NAME for all. */
export function exposureArguments({ namespace, keys }: ExposureKeys): readonly string[] {
  const names = inNamespace(keys, namespace).map(({ name }) => name);
  const keyArguments = keys.map(({ name, namespace: of }) => `${of}/${name}`);
  return [...names.toSorted(), ...keyArguments.toSorted()];
}

function inNamespace(keys: readonly ObjectKey[], namespace: string): readonly ObjectKey[] {
  return keys.filter((key) => key.namespace === namespace);
}
