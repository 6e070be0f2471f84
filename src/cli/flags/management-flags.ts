/**
 * Flags that select the management cluster, and in it the operator and Exposures.
 */
import { Argument, InvalidArgumentError, Option, type Command } from 'commander';
import { SUBDOMAIN_PATTERN } from '../../api/values/name-patterns.ts';
import type { ClusterAccess } from '../../kube/access/cluster-access.ts';
import type { ObjectKey } from '../../kube/object.ts';
import { fileName, fileNames, folderName, imageReference, namespaceName } from './flag-values.ts';
import type { AccessFlags } from '../io/open-access.ts';
import { CommandError } from '../output/messages.ts';

/** Flags that select the cluster and its namespaces. */
export interface ClusterFlags extends AccessFlags {
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

/** Adds the flags that locate a cluster. */
export function withAccessFlags(command: Command, description: string): Command {
  return command
    .option('--kubeconfig <file>', description, fileName)
    .option('--context <name>', 'context of the kubeconfig');
}

/** Adds the flags of every command that reads the management cluster. */
export function withClusterFlags(command: Command): Command {
  return withAccessFlags(command, 'kubeconfig of the management cluster (default: as kubectl)')
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

/** Returns the option `-f` for several files; `more` says what is done with them. */
export function filesOption(more = ''): Option {
  return new Option(
    '-f, --filename <file...>',
    `files with Edges and Exposures${more}; - for standard input; or the folder of snicket run`,
  ).argParser(fileNames);
}

/** The state folder of `status` and `diff`, which need one. */
export const DEFAULT_STATE = ' (default with -f: as for run)';

/** Returns the option for the state of `snicket run`; `more` says what is read from it, or its default. */
export function stateOption(more = ': its folder and last status'): Option {
  return new Option(
    '--state <folder>',
    `state folder of snicket run, instead of a cluster${more}`,
  ).argParser(folderName);
}

/** Names of the flags that locate the management cluster. */
export const ACCESS_FLAGS: readonly string[] = ['kubeconfig', 'context', 'operatorNamespace'];

/** Throws an error if one of these flags was given, because it does not apply. `missing` is what it requires, if anything. */
export function rejectGiven(
  names: readonly string[],
  why: string,
  command: Command,
  missing?: string,
): void {
  const given = names.find((name) => command.getOptionValueSource(name) === 'cli');
  if (given === undefined) return;
  const { long } = command.options.find((option) => option.attributeName() === given) ?? {};
  const instead = missing === undefined ? '' : `pass ${missing} or `;
  throw new CommandError(`${long} ${why}`, `${instead}remove ${long}`);
}

/** Throws an error if a flag of a cluster was given together with a folder of `snicket run`. */
export function rejectClusterFlags(
  { filename, state }: { readonly filename?: unknown; readonly state?: unknown },
  command: Command,
): void {
  if (filename === undefined && state === undefined) return;
  rejectGiven(
    ACCESS_FLAGS,
    `cannot be combined with ${state === undefined ? '-f' : '--state'}`,
    command,
  );
}

/** Flags that choose Exposures. A command without -A has no `allNamespaces`. */
export type SelectionFlags = Partial<Pick<ManagementFlags, 'namespace' | 'allNamespaces'>>;

/** Throws an error if the flags contradict each other about the Exposures. */
export function rejectContradictions(
  exposure: NamedExposure | undefined,
  { namespace, allNamespaces }: SelectionFlags,
): void {
  if (allNamespaces === true && (exposure !== undefined || namespace !== undefined)) {
    throw new CommandError('-A cannot be combined with a name or -n', 'remove -A, or the others');
  }
  if (
    exposure?.namespace !== undefined &&
    (namespace ?? exposure.namespace) !== exposure.namespace
  ) {
    throw new CommandError(
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
  if (allNamespaces === true) return {};
  return {
    namespace: exposure?.namespace ?? namespace ?? access.namespace,
    name: exposure?.name,
  };
}

/** The namespace of objects in a folder that do not specify one. */
export const FOLDER_NAMESPACE = 'default';

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
