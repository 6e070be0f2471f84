import { lstatSync, type Stats } from 'node:fs';
import type { Finding } from '../api/finding.ts';
import { Argument, Command, InvalidArgumentError, Option } from 'commander';
import { systemCode } from '../files/system-error.ts';
import { FileExists, writeAtomically } from '../files/atomic-write.ts';
import { fileName } from './flags/flag-values.ts';
import { ipVersion } from '../wire/ip-address.ts';
import type { ClusterAccess } from '../kube/access/cluster-access.ts';
import type { ManagementSnapshot } from '../management/management-snapshot.ts';
import {
  exitWithAccessError,
  selectionOf,
  FOLDER_NAMESPACE,
  folderOption,
  openManagement,
  parseExposureName,
  rejectAccessFlags,
  rejectContradictions,
  withClusterFlags,
  type Choice,
  type ClusterFlags,
  type NamedExposure,
} from './flags/management-flags.ts';
import { OUTPUTS } from './output/output.ts';
import { READ_TIMEOUT_MS } from './sources/read-timeout.ts';
import { adviceIn, exitWithError, printAdvice, printMessage } from './output/messages.ts';
import {
  edgeAddress,
  NoKubeconfig,
  plannedEndpoint,
  routedEndpoint,
} from './kubeconfig/tenant-endpoint.ts';
import type { CommandIo } from './io/command-io.ts';

const EXAMPLES = `
Examples:
  snicket kubeconfig tenants/blue -o blue.kubeconfig
  kubectl --kubeconfig blue.kubeconfig get nodes

  snicket kubeconfig blue --by-address            # without DNS
  snicket kubeconfig blue --address 203.0.113.10  # with this address
  snicket kubeconfig -f tenants.d blue            # without a cluster
  KUBECONFIG=~/.kube/config:blue.kubeconfig kubectl config view --flatten --raw

The credentials are those of the administrator's kubeconfig that the provider
stores in a Secret, or that the Exposure references. Cluster, user and context
are named NAMESPACE/NAME, so that one file can have several tenants.

Exit codes:
  0  success
  1  the tenant has no usable kubeconfig
  2  invalid command line or file, or the management cluster cannot be read`;

interface Flags extends ClusterFlags {
  readonly address?: string;
  readonly byAddress: boolean;
  readonly output?: string;
  readonly force: boolean;
  readonly filename?: string;
}

/** `snicket kubeconfig`: prints a kubeconfig of a tenant that uses the edge. */
export function kubeconfigCommand(io: CommandIo): Command {
  return withClusterFlags(new Command('kubeconfig'))
    .description('Print a kubeconfig of a tenant that connects through the edge')
    .addArgument(new Argument('<exposure>', 'NAMESPACE/NAME or NAME').argParser(parseExposureName))
    .addOption(folderOption())
    .addOption(
      new Option('--by-address', 'use an address of the Edge as server, instead of a DNS name')
        .default(false)
        .conflicts('address'),
    )
    .option('--address <ip>', 'use this address as server, instead of a DNS name', parseAddress)
    .option(
      '-o, --output <file>',
      'file to write, with mode 0600 (default: standard output)',
      parseFile,
    )
    .option('--force', 'with -o: overwrite an existing file', false)
    .addHelpText('after', EXAMPLES)
    .action(async (exposure: NamedExposure, flags: Flags, command: Command) => {
      rejectContradictions(exposure, { ...flags, allNamespaces: false }, command);
      if (flags.force && flags.output === undefined) {
        exitWithError(command, '--force requires -o', 'pass -o FILE or remove --force');
      }
      const { AccessError } = await import('../kube/access/cluster-access.ts');
      try {
        rejectExisting(io, flags, command);
        await run(io, exposure, flags, command);
      } catch (error) {
        if (error instanceof AccessError) {
          exitWithAccessError(command, error, flags, 'its folder: -f DIR');
        }
        if (!(error instanceof FileExists)) throw error;
        exitWithError(
          command,
          error.message,
          'choose another file or pass --force to overwrite it',
        );
      }
    });
}

async function run(
  io: CommandIo,
  exposure: NamedExposure,
  flags: Flags,
  command: Command,
): Promise<void> {
  // Imported lazily, so that help does not load it.
  const [{ withErrorReporting, EXIT }, { AccessError }] = await Promise.all([
    import('./plans/plans.ts'),
    import('../kube/access/cluster-access.ts'),
  ]);
  const { access, read } =
    flags.filename === undefined
      ? await openCluster(io, flags)
      : await openFolderOf(io, flags.filename, command);
  const choice = selectionOf(exposure, { ...flags, allNamespaces: false }, access);
  await withErrorReporting(io, async () => {
    try {
      const management = await read();
      const { text, warnings } = await kubeconfigFor(choice, management, flags);
      for (const warning of warnings) printMessage(io, `warning: ${warning}`);
      hand(io, text, flags, command);
    } catch (error) {
      // This AccessError is about the tenant's kubeconfig. That of the management cluster has been read before.
      if (!(error instanceof NoKubeconfig) && !(error instanceof AccessError)) throw error;
      printAdvice(io, 'error', adviceIn(`${choice.namespace}/${choice.name}: ${error.message}`));
      io.exitCode = EXIT.wrong;
    }
  });
}

/** Where Exposures are read from. */
interface Source {
  readonly access: Pick<ClusterAccess, 'namespace'>;
  readonly read: () => Promise<ManagementSnapshot>;
}

async function openCluster(io: CommandIo, flags: Flags): Promise<Source> {
  const [{ ManagementSnapshot }, { withProgress }] = await Promise.all([
    import('../management/management-snapshot.ts'),
    import('./output/progress.ts'),
  ]);
  const { client, access } = await openManagement(io, flags);
  const read = async () => {
    const reading = ManagementSnapshot.read(client, AbortSignal.timeout(READ_TIMEOUT_MS));
    return withProgress(io, `reading ${client.server}`, reading);
  };
  return { access, read };
}

async function openFolderOf(io: CommandIo, folder: string, command: Command): Promise<Source> {
  rejectAccessFlags(command);
  const { openFolder } = await import('./sources/folder-management.ts');
  const { management, faults } = await openFolder(io, folder, command);
  // Invalid files of other tenants do not prevent printing the kubeconfig of this one.
  for (const fault of faults) printAdvice(io, 'warning', adviceIn(fault));
  return { access: { namespace: FOLDER_NAMESPACE }, read: async () => Promise.resolve(management) };
}

async function kubeconfigFor(choice: Choice, management: ManagementSnapshot, flags: Flags) {
  const [{ selectedOf }, { observeExposure }, { planExposure }, { edgeKubeconfig }] =
    await Promise.all([
      import('./sources/selected-exposures.ts'),
      import('../reconcile/observe.ts'),
      import('../plan/plan.ts'),
      import('./kubeconfig/kubeconfig-document.ts'),
    ]);
  const [object] = selectedOf(management.exposures, choice);
  if (object === undefined) throw new NoKubeconfig('Exposure not found');
  const { value: resolved, finding } = management.exposureIndex.resolve(object);
  if (resolved === undefined) throw new NoKubeconfig(adviceText(finding));
  const isFolder = flags.filename !== undefined;
  const routed = isFolder ? undefined : routedEndpoint(object, management);
  const deps = {
    management,
    namespace: flags.operatorNamespace,
    proxyImage: '',
    isGatewayHere: isFolder,
  };
  const signal = AbortSignal.timeout(READ_TIMEOUT_MS);
  const { facts, reading } = await observeExposure(object, resolved, deps, signal);
  const edgeName = resolved.edge.metadata.name;
  const { endpoint, edge } = routed ?? plannedEndpoint(planExposure(resolved, facts), edgeName);
  const { kubeconfig, controlPlane, findings } = reading;
  if (kubeconfig === undefined) {
    const said = findings.map(adviceText).join(' ');
    throw new NoKubeconfig(
      said === ''
        ? 'the tenant has no kubeconfig; wait for its provider or set spec.controlPlane.kubeconfigSecretRef'
        : `the tenant has no kubeconfig: ${said}`,
    );
  }
  const { hostname: host, port } = new URL(`tcp://${endpoint}`);
  const address = flags.byAddress
    ? edgeAddress(facts.edgeAddresses, edge, edgeName)
    : flags.address;
  return edgeKubeconfig({
    text: kubeconfig,
    name: `${choice.namespace}/${choice.name}`,
    server: `https://${bracketed(address ?? host)}:${port}`,
    serverName: address === undefined ? undefined : host,
    ca: controlPlane?.ca?.certificate,
  });
}

/**
 * Exits with an error if the output file must not be replaced. Runs first, so that the user does not wait for it.
 *
 * @throws FileExists
 */
function rejectExisting(io: CommandIo, { output, force }: Flags, command: Command): void {
  if (output === undefined) return;
  const there = whatIsAt(io, output, command);
  if (there === undefined) return;
  // The new file replaces what is there, which would remove a device or break a symbolic link.
  if (!there.isFile()) {
    exitWithError(
      command,
      `${output} already exists and is ${there.isSymbolicLink() ? 'a symbolic link' : 'not a regular file'}`,
      'choose another file or omit -o to print the kubeconfig',
    );
  }
  if (!force) throw new FileExists(output);
}

function whatIsAt(io: CommandIo, output: string, command: Command): Stats | undefined {
  try {
    return lstatSync(io.path(output), { throwIfNoEntry: false });
  } catch (error) {
    return rejectUnwritable(output, error, command);
  }
}

function rejectUnwritable(output: string, error: unknown, command: Command): never {
  const code = systemCode(error);
  if (code === undefined) throw error;
  exitWithError(command, `cannot write ${output}: ${code}`, 'choose another file');
}

function hand(io: CommandIo, text: string, { output, force }: Flags, command: Command): void {
  if (output === undefined) {
    io.stdout.write(text);
    return;
  }
  try {
    writeAtomically(io.path(output), text, { mayReplace: force });
  } catch (error) {
    rejectUnwritable(output, error, command);
  }
}

function bracketed(host: string): string {
  return host.includes(':') ? `[${host}]` : host;
}

function parseAddress(text: string): string {
  if (ipVersion(text) === 0) {
    throw new InvalidArgumentError('must be an IP address such as 203.0.113.10 or 2001:db8::10');
  }
  return text;
}

/** Rejects formats: other tools have them in -o, and a file named yaml would be a surprise. */
function parseFile(text: string): string {
  if (text === '-')
    throw new InvalidArgumentError('must be a file; omit -o to print the kubeconfig');
  if (OUTPUTS.some((output) => output === text)) {
    throw new InvalidArgumentError(
      `must be a file, not a format: a kubeconfig is YAML; omit -o, or pass ./${text} for a file of that name`,
    );
  }
  return fileName(text);
}

/** Returns a finding as one text, with its action after a semicolon as for other errors of commands. */
function adviceText({ message, action }: Finding): string {
  return `${message}; ${action}`;
}
