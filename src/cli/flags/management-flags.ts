/**
 * The flags by which tools find the management cluster, and in it the operator and the Exposures that are meant.
 */
import { Argument, InvalidArgumentError, Option, type Command } from 'commander';
import { SUBDOMAIN_PATTERN } from '../../api/values/name-patterns.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import type { AccessError, ClusterAccess } from '../../kube/access/cluster-access.ts';
import type { ObjectKey } from '../../kube/object.ts';
import { fileName, folderName, imageName, namespaceName } from './flag-values.ts';
import { accessOptions } from '../io/access-options.ts';
import type { CommandIo } from '../io/command-io.ts';

/** By which the cluster is found, and the namespace that is meant in it. */
export interface ClusterFlags {
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly namespace?: string;
  readonly operatorNamespace: string;
}

/** What the flags say. */
export interface ManagementFlags extends ClusterFlags {
  readonly allNamespaces: boolean;
  readonly proxyImage?: string;
}

/** An Exposure as somebody names it: `NAMESPACE/NAME`, or the name alone. */
export interface NamedExposure {
  readonly namespace?: string;
  readonly name: string;
}

/** Which Exposures are meant: one, those of a namespace, or all. */
export interface Choice {
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
}

/** The flags of every tool that looks at the management cluster. */
export function withClusterFlags(command: Command): Command {
  return command
    .option(
      '--kubeconfig <file>',
      'how to reach the management cluster; default: as kubectl does',
      fileName,
    )
    .option('--context <name>', 'the context of the kubeconfig')
    .option(
      '-n, --namespace <name>',
      "the Exposure's namespace; default: that of the context",
      namespaceName,
    )
    .option(
      '--operator-namespace <name>',
      'where the operator and the gateway are',
      namespaceName,
      'snicket-system',
    );
}

/** Those, and the flags of tools that plan. */
export function withManagementFlags(command: Command): Command {
  return withClusterFlags(command)
    .addArgument(
      new Argument(
        '[exposure]',
        'NAMESPACE/NAME, or NAME; default: all of the namespace',
      ).argParser(parseExposureName),
    )
    .option('-A, --all-namespaces', 'all Exposures', false)
    .addOption(proxyImageOption());
}

/** The image that the operator is taken to give to proxies. */
export function proxyImageOption(): Option {
  return new Option(
    '--proxy-image <image>',
    'the image of the proxy, for Exposures that name none; default: that of the operator',
  ).argParser(imageName);
}

/** The folder of `snicket run`, where there is no cluster. */
export function folderOption(): Option {
  return new Option(
    '-f, --filename <folder>',
    'the folder of snicket run, in place of a cluster',
  ).argParser(folderName);
}

/** How a management cluster is found. */
export const ACCESS_FLAGS: readonly string[] = ['kubeconfig', 'context', 'operatorNamespace'];

/** Ends the program if one of these was given that means nothing here. */
export function refuseGiven(names: readonly string[], why: string, command: Command): void {
  const given = names.find((name) => command.getOptionValueSource(name) === 'cli');
  if (given === undefined) return;
  const { long } = command.options.find((option) => option.attributeName() === given) ?? {};
  command.error(`error: ${long} ${why}`);
}

/** The same for flags of a cluster beside the folder. */
export function refuseAccessFlags(command: Command): void {
  refuseGiven(ACCESS_FLAGS, 'belongs to a cluster, not to -f; leave it out', command);
}

/** The flags that say which Exposures are meant. */
export type ChoiceFlags = Pick<ManagementFlags, 'namespace' | 'allNamespaces'>;

/** Ends the program where it is not clear which Exposures are meant. */
export function refuseUnclear(
  exposure: NamedExposure | undefined,
  { namespace, allNamespaces }: ChoiceFlags,
  command: Command,
): void {
  if (allNamespaces && (exposure !== undefined || namespace !== undefined)) {
    command.error('error: -A means all; leave it out, or leave the name and the namespace out');
  }
  if (
    exposure?.namespace !== undefined &&
    (namespace ?? exposure.namespace) !== exposure.namespace
  ) {
    command.error(
      `error: the namespace is ${exposure.namespace} in the name and ${namespace} in -n; write one of them`,
    );
  }
}

/** The Exposures that are meant. */
export function choiceOf(
  exposure: NamedExposure | undefined,
  { namespace, allNamespaces }: ChoiceFlags,
  access: Pick<ClusterAccess, 'namespace'>,
): Choice {
  if (allNamespaces) return {};
  return {
    namespace: exposure?.namespace ?? namespace ?? access.namespace,
    name: exposure?.name,
  };
}

/** The same in a folder, where all are meant if nobody says otherwise. */
export function choicesInFolder(
  exposures: readonly NamedExposure[],
  flags: ChoiceFlags,
): readonly Choice[] {
  if (exposures.length > 0) {
    return exposures.map((one) => choiceOf(one, flags, { namespace: FOLDER_NAMESPACE }));
  }
  return [{ namespace: flags.namespace }];
}

/** Of objects in a folder that name none. */
export const FOLDER_NAMESPACE = 'default';

/** Why there is no way to a cluster, and what somebody may want who has none: `its folder: -f DIR`. */
export function accessText(
  { code, message }: AccessError,
  { kubeconfig }: Pick<ClusterFlags, 'kubeconfig'>,
  elsewhere: string,
): string {
  const isNamed = code !== 'AccessMissing' || kubeconfig !== undefined;
  return isNamed ? message : `${message}; for snicket run, name ${elsewhere}`;
}

/** The management cluster. @throws AccessError */
export async function openManagement(
  io: CommandIo,
  flags: Pick<ClusterFlags, 'kubeconfig' | 'context'>,
): Promise<{ readonly client: KubeClient; readonly access: ClusterAccess }> {
  // Loaded here, so that help does not pay for it.
  const [{ createClient }, { defaultAccess }] = await Promise.all([
    import('../../kube/client/fetch-client.ts'),
    import('../../kube/access/default-access.ts'),
  ]);
  const access = defaultAccess(accessOptions(io, flags.kubeconfig, flags.context));
  return { client: createClient(access), access };
}

/** `NAMESPACE/NAME` or `NAME`. */
export function parseExposureName(text: string): NamedExposure {
  const parts = text.split('/');
  const [first = '', second] = parts;
  if (parts.length > 2 || parts.includes('')) {
    throw new InvalidArgumentError('Write NAMESPACE/NAME or NAME.');
  }
  return second === undefined ? { name: first } : { namespace: first, name: second };
}

const NAME = new RegExp(SUBDOMAIN_PATTERN);

/** Whether a word can be the name of one. */
export function isExposureName(text: string): boolean {
  const parts = text.split('/');
  return parts.length <= 2 && parts.every((part) => NAME.test(part));
}

/** Several of them, one word after the other. */
export function exposureNames(
  text: string,
  before: readonly NamedExposure[] = [],
): readonly NamedExposure[] {
  return [...before, parseExposureName(text)];
}

/** Whether an object is among those that are meant. */
export function isChosen({ namespace, name }: Choice, key: ObjectKey): boolean {
  return (
    (namespace === undefined || key.namespace === namespace) &&
    (name === undefined || key.name === name)
  );
}
