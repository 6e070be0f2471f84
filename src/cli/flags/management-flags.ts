/**
 * Flags that select the management cluster, and in it the operator and Exposures.
 */
import { Argument, InvalidArgumentError, Option, type Command } from 'commander';
import { SUBDOMAIN_PATTERN } from '../../api/values/name-patterns.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import type { AccessError, ClusterAccess } from '../../kube/access/cluster-access.ts';
import type { ObjectKey } from '../../kube/object.ts';
import { fileName, folderName, imageReference, namespaceName } from './flag-values.ts';
import { accessOptions } from '../io/access-options.ts';
import { exitWithError, exitWithThrown } from '../output/messages.ts';
import type { CommandIo } from '../io/command-io.ts';

/** Flags that select the cluster and its namespaces. */
export interface ClusterFlags {
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly namespace?: string;
  readonly operatorNamespace: string;
}

/** Flags of commands that compute plans. */
export interface ManagementFlags extends ClusterFlags {
  readonly allNamespaces: boolean;
  readonly proxyImage?: string;
}

/** An Exposure as given by the user: `NAMESPACE/NAME`, or the name alone. */
export interface NamedExposure {
  readonly namespace?: string;
  readonly name: string;
}

/** Which Exposures are chosen: one, those of a namespace, or all. */
export interface Choice {
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
}

/** Adds the flags of every command that reads the management cluster. */
export function withClusterFlags(command: Command): Command {
  return command
    .option(
      '--kubeconfig <file>',
      'kubeconfig of the management cluster (default: as kubectl)',
      fileName,
    )
    .option('--context <name>', 'context of the kubeconfig')
    .option(
      '-n, --namespace <name>',
      'namespace of Exposures (default: that of the context)',
      namespaceName,
    )
    .option(
      '--operator-namespace <name>',
      'namespace of the operator and the gateway',
      namespaceName,
      'snicket-system',
    );
}

/** Adds those flags, and the flags of commands that compute plans. */
export function withManagementFlags(command: Command): Command {
  return withClusterFlags(command)
    .addArgument(
      new Argument(
        '[exposure]',
        'NAMESPACE/NAME or NAME (default: all in the namespace)',
      ).argParser(parseExposureName),
    )
    .option('-A, --all-namespaces', 'Exposures of all namespaces', false)
    .addOption(proxyImageOption());
}

/** Returns the option for the image that the operator is assumed to use for proxies. */
export function proxyImageOption(): Option {
  return new Option(
    '--proxy-image <image>',
    'proxy image for Exposures that specify none (default: that of the operator)',
  ).argParser(imageReference);
}

/** Returns the option for the folder of `snicket run`, which takes the place of a cluster. */
export function folderOption(): Option {
  return new Option(
    '-f, --filename <folder>',
    'folder of snicket run, instead of a cluster',
  ).argParser(folderName);
}

/** Returns the option for the state of `snicket run`. */
export function stateOption(): Option {
  return new Option(
    '--state <folder>',
    'state folder of snicket run (default with -f: that of `snicket run FOLDER`)',
  ).argParser(folderName);
}

/**
 * Returns the state folder that the flags name: that of --state, or the default of `snicket run` if -f names its folder.
 */
export async function stateFolderOf(
  io: Pick<CommandIo, 'env'>,
  { state, isFolder }: { readonly state?: string | undefined; readonly isFolder: boolean },
): Promise<string | undefined> {
  if (state !== undefined || !isFolder) return state;
  const { defaultStateFolder } = await import('../../standalone/state/state-folder.ts');
  return defaultStateFolder(io.env);
}

/** Names of the flags that locate the management cluster. */
export const ACCESS_FLAGS: readonly string[] = ['kubeconfig', 'context', 'operatorNamespace'];

/** Exits with an error if one of these flags was given, because it does not apply. */
export function rejectGiven(names: readonly string[], why: string, command: Command): void {
  const given = names.find((name) => command.getOptionValueSource(name) === 'cli');
  if (given === undefined) return;
  const { long } = command.options.find((option) => option.attributeName() === given) ?? {};
  exitWithError(command, `${long} ${why}`, `remove ${long}`);
}

/** Exits with an error if a flag of a cluster was given together with a folder. */
export function rejectAccessFlags(command: Command): void {
  rejectGiven(ACCESS_FLAGS, 'cannot be combined with -f', command);
}

/** Flags that choose Exposures. */
export type SelectionFlags = Pick<ManagementFlags, 'namespace' | 'allNamespaces'>;

/** Exits with an error if the flags contradict each other about the Exposures. */
export function rejectContradictions(
  exposure: NamedExposure | undefined,
  { namespace, allNamespaces }: SelectionFlags,
  command: Command,
): void {
  if (allNamespaces && (exposure !== undefined || namespace !== undefined)) {
    exitWithError(command, '-A cannot be combined with a name or -n', 'remove -A, or the others');
  }
  if (
    exposure?.namespace !== undefined &&
    (namespace ?? exposure.namespace) !== exposure.namespace
  ) {
    exitWithError(
      command,
      `namespace ${exposure.namespace} of ${exposure.name} differs from -n ${namespace}`,
      'remove one of them',
    );
  }
}

/** Returns which Exposures are chosen. */
export function selectionOf(
  exposure: NamedExposure | undefined,
  { namespace, allNamespaces }: SelectionFlags,
  access: Pick<ClusterAccess, 'namespace'>,
): Choice {
  if (allNamespaces) return {};
  return {
    namespace: exposure?.namespace ?? namespace ?? access.namespace,
    name: exposure?.name,
  };
}

/** Returns which Exposures of a folder are chosen; all by default. */
export function selectionsInFolder(
  exposures: readonly NamedExposure[],
  flags: SelectionFlags,
): readonly Choice[] {
  if (exposures.length > 0) {
    return exposures.map((one) => selectionOf(one, flags, { namespace: FOLDER_NAMESPACE }));
  }
  return [{ namespace: flags.namespace }];
}

/** The namespace of objects in a folder that do not specify one. */
export const FOLDER_NAMESPACE = 'default';

/**
 * Exits because the cluster cannot be accessed. `elsewhere` is what to pass for `snicket run` instead, such as `its
 * folder: -f DIR`.
 */
export function exitWithAccessError(
  command: Command,
  error: AccessError,
  { kubeconfig }: Pick<ClusterFlags, 'kubeconfig'>,
  elsewhere: string,
): never {
  const isNamed = error.code !== 'AccessMissing' || kubeconfig !== undefined;
  return exitWithThrown(
    command,
    isNamed ? error : `${error.message}; for snicket run, pass ${elsewhere}`,
  );
}

/** Returns a client for the management cluster. @throws AccessError */
export async function openManagement(
  io: CommandIo,
  flags: Pick<ClusterFlags, 'kubeconfig' | 'context'>,
): Promise<{ readonly client: KubeClient; readonly access: ClusterAccess }> {
  // Imported lazily, so that help does not load it.
  const [{ createClient }, { defaultAccess }] = await Promise.all([
    import('../../kube/client/fetch-client.ts'),
    import('../../kube/access/default-access.ts'),
  ]);
  const access = defaultAccess(accessOptions(io, flags.kubeconfig, flags.context));
  return { client: createClient(access), access };
}

/** Parses `NAMESPACE/NAME` or `NAME`. */
export function parseExposureName(text: string): NamedExposure {
  const parts = text.split('/');
  const [first = '', second] = parts;
  if (parts.length > 2 || parts.includes('')) {
    throw new InvalidArgumentError('must be NAMESPACE/NAME or NAME');
  }
  return second === undefined ? { name: first } : { namespace: first, name: second };
}

const NAME = new RegExp(SUBDOMAIN_PATTERN);

/** Reports whether a word can be the name of an Exposure. */
export function isExposureName(text: string): boolean {
  const parts = text.split('/');
  return parts.length <= 2 && parts.every((part) => NAME.test(part));
}

/** Collects the names of several Exposures. */
export function exposureNames(
  text: string,
  before: readonly NamedExposure[] = [],
): readonly NamedExposure[] {
  return [...before, parseExposureName(text)];
}

/** Reports whether an object is chosen. */
export function isSelected({ namespace, name }: Choice, key: ObjectKey): boolean {
  return (
    (namespace === undefined || key.namespace === namespace) &&
    (name === undefined || key.name === name)
  );
}
