import { Argument, Command, InvalidArgumentError, Option } from 'commander';
import type { ExposureStatus } from '../api/exposure.ts';
import { ipVersion } from '../wire/ip-address.ts';
import type { Condition } from '../kube/object.ts';
import {
  choiceOf,
  openManagement,
  parseExposureName,
  refuseUnclear,
  withClusterFlags,
  type Choice,
  type ClusterFlags,
  type NamedExposure,
} from './management-flags.ts';
import { FileExists, refuseExisting, writeSecretFile } from './kubeconfig-file.ts';
import { OUTPUTS } from './output.ts';
import { say } from './say.ts';

const EXAMPLES = `
Examples:
  snicket kubeconfig tenants/blue -o blue.kubeconfig
  kubectl --kubeconfig blue.kubeconfig get nodes

  snicket kubeconfig blue --by-address            # DNS does not know it yet
  snicket kubeconfig blue --address 203.0.113.10  # the same, by this address
  KUBECONFIG=~/.kube/config:blue.kubeconfig kubectl config view --flatten --raw

The user is the administrator whose kubeconfig the provider keeps in a Secret.
Cluster, user and context are called NAMESPACE/NAME, so that those of several
tenants can be in one file.

Exit codes:
  0  printed, or written to the file
  1  there is none to give: lines that begin with error: say why
  2  the command line, the file or the management cluster is at fault`;

/** That there is no kubeconfig to give; the message says why, and what to do. */
class NothingToGive extends Error {
  override readonly name = 'NothingToGive';
}

interface Flags extends ClusterFlags {
  readonly address?: string;
  readonly byAddress: boolean;
  readonly output?: string;
  readonly force: boolean;
}

/** `snicket kubeconfig`: a kubeconfig for people, through the edge. */
export function kubeconfigCommand(): Command {
  return withClusterFlags(new Command('kubeconfig'))
    .description('print a kubeconfig of a tenant that leads through the edge')
    .addArgument(new Argument('<exposure>', 'NAMESPACE/NAME, or NAME').argParser(parseExposureName))
    .addOption(
      new Option('--by-address', 'dial an address of the Edge; DNS is not needed then')
        .default(false)
        .conflicts('address'),
    )
    .option('--address <ip>', 'dial this address; DNS is not needed then', parseAddress)
    .option('-o, --output <file>', 'write it there, with mode 0600; default: print it', parseFile)
    .option('--force', 'with -o: write over a file that is there', false)
    .addHelpText('after', EXAMPLES)
    .action(async (exposure: NamedExposure, flags: Flags, command: Command) => {
      refuseUnclear(exposure, { ...flags, allNamespaces: false }, command);
      if (flags.force && flags.output === undefined) {
        command.error('error: --force belongs to -o; leave it out');
      }
      const { AccessError } = await import('../kube/cluster-access.ts');
      try {
        if (flags.output !== undefined && !flags.force) refuseExisting(flags.output);
        await run(exposure, flags, command);
      } catch (error) {
        if (!(error instanceof AccessError) && !(error instanceof FileExists)) throw error;
        command.error(`error: ${error.message}`);
      }
    });
}

async function run(exposure: NamedExposure, flags: Flags, command: Command): Promise<void> {
  // Loaded here, so that help does not pay for it.
  const [{ orSayWhy, EXIT }, { AccessError }] = await Promise.all([
    import('./plans.ts'),
    import('../kube/cluster-access.ts'),
  ]);
  const { client, access } = await openManagement(flags);
  const choice = choiceOf(exposure, { ...flags, allNamespaces: false }, access);
  await orSayWhy(async () => {
    try {
      const { text, warnings } = await kubeconfigFor(choice, client, flags);
      for (const warning of warnings) say(`warning: ${warning}`);
      hand(text, flags, command);
    } catch (error) {
      // Of the tenant's kubeconfig; that of the management cluster has been read.
      if (!(error instanceof NothingToGive) && !(error instanceof AccessError)) throw error;
      say(`error: ${choice.namespace}/${choice.name}: ${error.message}`);
      process.exitCode = EXIT.wrong;
    }
  });
}

async function kubeconfigFor(
  choice: Choice,
  client: Awaited<ReturnType<typeof openManagement>>['client'],
  flags: Flags,
) {
  const [{ chosenOf }, { ManagementSnapshot }, { lookAtExposure }, { edgeKubeconfig }, progress] =
    await Promise.all([
      import('./plans.ts'),
      import('../operator/management/management-snapshot.ts'),
      import('../operator/look.ts'),
      import('./kubeconfig-document.ts'),
      import('./progress.ts'),
    ]);
  const { findingText } = await import('../api/finding.ts');
  const signal = AbortSignal.timeout(READ_MS);
  const reading = ManagementSnapshot.read(client, signal);
  const management = await progress.withProgress(`reading ${client.server}`, reading);
  const [object] = chosenOf(management.exposures, choice);
  if (object === undefined) throw new NothingToGive('there is no such Exposure');
  const { status } = object as { readonly status?: ExposureStatus };
  const { value: wish, finding } = management.book.wishOf(object);
  if (wish === undefined) throw new NothingToGive(findingText(finding));
  if (status?.route === undefined || status.endpoint === undefined) {
    throw new NothingToGive(notRouted(status));
  }
  const viewpoint = { management, namespace: flags.operatorNamespace, proxyImage: '' };
  const look = await lookAtExposure(object, wish, viewpoint, signal);
  const { kubeconfig, controlPlane, findings } = look.reading;
  if (kubeconfig === undefined) {
    const said = findings.map(findingText).join('. ');
    throw new NothingToGive(
      `there is no kubeconfig of the tenant: ${said === '' ? 'wait for its provider, or write spec.controlPlane.kubeconfigSecret' : said}`,
    );
  }
  const { hostname: host, port } = new URL(`tcp://${status.endpoint}`);
  const address = flags.byAddress
    ? edgeAddress(look.facts.edgeAddresses, status.edge, wish.edge.metadata.name)
    : flags.address;
  return edgeKubeconfig({
    ...{ text: kubeconfig, name: `${choice.namespace}/${choice.name}` },
    server: `https://${bracketed(address ?? host)}:${port}`,
    serverName: address === undefined ? undefined : host,
    ca: controlPlane?.ca?.certificate,
  });
}

/** Of the whole reading of the management cluster. */
const READ_MS = 60_000;

function edgeAddress(
  [address]: readonly string[],
  used: string | undefined,
  wished: string,
): string {
  if (used !== wished) {
    throw new NothingToGive(
      `it is on its way from Edge ${used} to Edge ${wished}; wait, or give --address`,
    );
  }
  if (address !== undefined) return address;
  throw new NothingToGive(
    `nobody says where Edge ${wished} is; write spec.addresses of the Edge, wait for the load balancer if its Service is of type LoadBalancer, or give --address`,
  );
}

/** The first of these that does not hold is the reason. */
const BEFORE_ROUTED = ['Accepted', 'Prepared', 'Routed'];

function notRouted(status: ExposureStatus | undefined): string {
  const conditions = (status?.conditions ?? []) as readonly Condition[];
  const reason = BEFORE_ROUTED.flatMap((type) => conditions.find((one) => one.type === type) ?? [])
    .filter((condition) => condition.status !== 'True')
    .map((condition) => `${condition.type} is ${condition.status}: ${condition.message}`)
    .at(0);
  return `it is not routed yet; ${reason ?? 'the operator has not looked at it: see that it runs'}`;
}

function hand(text: string, { output, force }: Flags, command: Command): void {
  if (output === undefined) {
    process.stdout.write(text);
    return;
  }
  try {
    writeSecretFile(output, text, force);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error;
    command.error(`error: ${output} cannot be written (${String(error.code)}); name another file`);
  }
}

function bracketed(host: string): string {
  return host.includes(':') ? `[${host}]` : host;
}

function parseAddress(text: string): string {
  if (ipVersion(text) === 0) {
    throw new InvalidArgumentError('Write an IP address such as 203.0.113.10 or 2001:db8::10.');
  }
  return text;
}

/** Other tools have formats there, and a file called yaml would be a surprise. */
function parseFile(text: string): string {
  if (OUTPUTS.some((output) => output === text)) {
    throw new InvalidArgumentError(
      `It names a file here, and a kubeconfig is YAML. Leave it out, or write ./${text} if you mean that file.`,
    );
  }
  return text;
}
