import { Command, Option } from 'commander';
import { readFileSync, statSync } from 'node:fs';
import { CLUSTERS, type Cluster } from '../plan/render.ts';
import {
  accessText,
  choiceOf,
  FOLDER_NAMESPACE,
  openManagement,
  refuseGiven,
  refuseUnclear,
  withManagementFlags,
  type ManagementFlags,
  type NamedExposure,
} from './management-flags.ts';
import type { KubeObject } from '../kube/object.ts';
import type { TextFile } from '../manifests/manifest-parts.ts';
import { say } from './say.ts';
import { PROXY_IMAGE } from './proxy-image.ts';
import { fileNames } from './flag-values.ts';
import { shellWord } from '../text/shell-word.ts';
import { TENANT_FLAGS, withTenantFlags, type TenantFlags } from './tenant-flags.ts';

const EXAMPLES = `
Examples:
  snicket render tenants/blue              # one, for both clusters
  snicket render -A --only management      # all, asking no tenant
  snicket render -f edge.yaml blue.yaml    # files, no cluster
  snicket render -f tenants.d              # a folder, no cluster
  snicket render tenants/blue --values     # of k0rdent's chart
  kustomize build . | snicket render -f -  # standard input
  snicket render -f edge.yaml blue.yaml --only management |
    kubectl diff -f -

What is printed is what the operator makes. Nothing is written anywhere. Of
Secrets a fingerprint is shown, unless --show-secrets asks for more.

Exit codes:
  0  printed; lines with warning: and note: may be on standard error
  1  printed as far as it goes; lines with error: say what is wrong. With -f,
     nothing is printed if a file has a mistake in it, or if there is no
     Exposure
  2  the command line is wrong, there is no such Exposure, or a file or the
     management cluster cannot be read`;

interface Flags extends ManagementFlags, TenantFlags {
  readonly filename?: readonly string[];
  readonly values: boolean;
  readonly showSecrets: boolean;
  readonly only?: Cluster;
}

/** `snicket render`: the objects that Exposures lead to, as YAML. */
export function renderCommand(): Command {
  const command = withManagementFlags(new Command('render'))
    .description('print the objects that Exposures lead to, from a cluster or from files')
    .option(
      '-f, --filename <file...>',
      'files with Edges and Exposures, - for standard input, or the folder of snicket run',
      fileNames,
    )
    .option('--values', "the values of k0rdent's chart, and nothing else", false)
    .option('--show-secrets', 'print what is in Secrets', false)
    .addOption(
      new Option('--only <cluster>', 'the objects of one cluster; default: both').choices(CLUSTERS),
    );
  return withTenantFlags(command)
    .addHelpText('after', EXAMPLES)
    .action(async (exposure: NamedExposure | undefined, flags: Flags, command: Command) => {
      refuseMisplaced(exposure, flags, command);
      await (flags.filename === undefined
        ? renderCluster(exposure, flags, command)
        : renderFiles(flags.filename, flags, command));
    });
}

function refuseMisplaced(
  exposure: NamedExposure | undefined,
  flags: Flags,
  command: Command,
): void {
  if (flags.filename === undefined) {
    refuseUnclear(exposure, flags, command);
    const misplaced = TENANT_FLAGS.find((flag) => command.getOptionValueSource(flag) === 'cli');
    const long = command.options.find((option) => option.attributeName() === misplaced)?.long;
    if (long !== undefined && long !== null) {
      command.error(`error: ${long} belongs to -f; without it, tenants are asked`);
    }
    return;
  }
  if (exposure !== undefined || flags.allNamespaces) {
    command.error('error: -f means the Exposures in the files; leave the name and -A out');
  }
}

async function renderCluster(
  exposure: NamedExposure | undefined,
  flags: Flags,
  command: Command,
): Promise<void> {
  const [{ printPlans }, { AccessError }] = await Promise.all([
    import('./plans.ts'),
    import('../kube/cluster-access.ts'),
  ]);
  try {
    const { client, access } = await openManagement(flags);
    await printPlans({
      ...{ client, namespace: flags.operatorNamespace, proxyImage: flags.proxyImage },
      ...{ choice: choiceOf(exposure, flags, access) },
      ...{ only: flags.only, showSecrets: flags.showSecrets, values: flags.values },
    });
  } catch (error) {
    if (!(error instanceof AccessError)) throw error;
    command.error(`error: ${accessText(error, flags, 'its folder: -f DIR')}`);
  }
}

async function renderFiles(
  names: readonly string[],
  flags: Flags,
  command: Command,
): Promise<void> {
  const [{ outlooksOfFiles }, { EXIT, planText, reportFindings }] = await Promise.all([
    import('./render-files.ts'),
    import('./plans.ts'),
  ]);
  const folder = names.find(isFolder);
  const { objects, faults } = await (folder === undefined
    ? readFiles(names, flags, command)
    : readFolder(folder, names, command));
  if (faults.length > 0) {
    for (const fault of faults) say(`error: ${fault}`);
    process.exitCode = EXIT.wrong;
    return;
  }
  const { outlooks, notes } = await outlooksOfFiles(objects, {
    ...{ namespace: flags.operatorNamespace, isGatewayHere: folder !== undefined },
    proxyImage: flags.proxyImage ?? PROXY_IMAGE,
    tenant: {
      ...(flags.tenantVersion !== undefined && { version: flags.tenantVersion }),
      ...(flags.serviceAddress !== undefined && { serviceAddresses: flags.serviceAddress }),
      ...(flags.clusterDomain !== undefined && { clusterDomain: flags.clusterDomain }),
    },
  });
  if (outlooks.length === 0) {
    say(
      'error: there is no Exposure in these files, nor a control plane with the annotation snicket.dev/edge',
    );
    process.exitCode = EXIT.wrong;
    return;
  }
  for (const outlook of outlooks) reportFindings(outlook);
  for (const sentence of notes) say(`note: ${sentence}`);
  const { only, showSecrets, values } = flags;
  const texts = outlooks.map((outlook) => planText(outlook, { only, showSecrets, values }));
  process.stdout.write(`${texts.map((text) => text.trimEnd()).join('\n---\n')}\n`);
}

interface ReadObjects {
  readonly objects: readonly KubeObject[];
  readonly faults: readonly string[];
}

async function readFiles(
  names: readonly string[],
  { namespace = FOLDER_NAMESPACE }: Flags,
  command: Command,
): Promise<ReadObjects> {
  const { readObjects } = await import('./object-files.ts');
  return readObjects(
    names.map((name) => readText(name, command)),
    namespace,
  );
}

async function readFolder(
  folder: string,
  names: readonly string[],
  command: Command,
): Promise<ReadObjects> {
  if (names.length > 1) {
    command.error(
      `error: ${folder} is a folder, and that of snicket run stands alone, without ${names.find((name) => name !== folder) ?? folder} beside it: all of its Exposures are printed; for the files of a cluster write ${shellWord(folder)}/*.yaml`,
    );
  }
  refuseGiven(
    ['namespace'],
    `belongs to files; in a folder, objects that name none are in ${FOLDER_NAMESPACE}`,
    command,
  );
  const { objectsInFolder } = await import('./folder-management.ts');
  const read = await objectsInFolder(folder, command);
  if (read.faults.length > 0) {
    say(
      `note: ${folder} is read as snicket run reads it; for the files of a cluster write ${shellWord(folder)}/*.yaml`,
    );
  }
  return read;
}

function isFolder(name: string): boolean {
  if (name === '-') return false;
  try {
    return statSync(name).isDirectory();
  } catch {
    return false; // why it cannot be read is said when it is read
  }
}

function readText(name: string, command: Command): TextFile {
  try {
    return name === '-'
      ? { name: 'standard input', text: readFileSync(0, 'utf8') }
      : { name, text: readFileSync(name, 'utf8') };
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error;
    command.error(`error: ${name} cannot be read (${unreadable(name, String(error.code))})`);
  }
}

function unreadable(name: string, code: string): string {
  if (code !== 'ENOENT') return code;
  // As if one Exposure could be chosen from files.
  const isName = /^[^./]+\/[^./]+$/.test(name);
  return `there is no such file${isName ? '; with -f, all Exposures in the files are printed: leave the name out' : ''}`;
}
