/**
 * Prints the kubeconfig of a tenant, or writes it to a file.
 */
import type { Command } from 'commander';
import { lstatSync, type Stats } from 'node:fs';
import type { Finding } from '../../api/finding.ts';
import { FileExists, writeAtomically } from '../../files/atomic-write.ts';
import { systemCode } from '../../files/system-error.ts';
import { AccessError } from '../../kube/access/cluster-access.ts';
import { keyText, type KubeObject } from '../../kube/object.ts';
import { planExposure } from '../../plan/plan.ts';
import { observeExposure } from '../../reconcile/observe.ts';
import type { KubeconfigFlags } from '../kubeconfig.ts';
import type { NamedExposure } from '../flags/management-flags.ts';
import type { CommandIo } from '../io/command-io.ts';
import { adviceIn, asCommandError, CommandError, EXIT, printMessage } from '../output/messages.ts';
import { readManagement, type ReadManagement } from '../sources/read-management.ts';
import { READ_TIMEOUT_MS } from '../sources/read-timeout.ts';
import { edgeKubeconfig, type EdgeKubeconfigInput } from './kubeconfig-document.ts';
import { edgeAddress, plannedEndpoint, routedEndpoint } from './tenant-endpoint.ts';

/** Runs the command. @throws CommandError */
export async function runKubeconfig(
  io: CommandIo,
  exposure: NamedExposure,
  flags: KubeconfigFlags,
  command: Command,
): Promise<void> {
  // Checked first, so that the user does not wait for the cluster before this error.
  if (flags.output !== undefined)
    rejectExistingFile(io.path(flags.output), flags.output, flags.force);
  // Invalid files of other tenants do not prevent printing the kubeconfig of this one.
  const source = await readManagement(io, [exposure], flags, command, 'warning');
  const [object] = source.select(source.choices);
  if (object === undefined) throw new CommandError(`Exposure not found: ${exposure.name}`);
  const { text, warnings } = await kubeconfigFor(object, source, flags);
  for (const warning of warnings) printMessage(io, `warning: ${warning}`);
  if (flags.output === undefined) io.stdout.write(text);
  else writeTo(io.path(flags.output), text, flags.output, flags.force);
}

async function kubeconfigFor(object: KubeObject, source: ReadManagement, flags: KubeconfigFlags) {
  const name = keyText(object.metadata);
  try {
    return edgeKubeconfig({ name, ...(await endpointFor(object, source, flags)) });
  } catch (error) {
    // An AccessError is about the tenant's kubeconfig, because that of the management cluster has been read.
    if (!(error instanceof AccessError || error instanceof CommandError)) throw error;
    const { message, hint } = error instanceof AccessError ? adviceIn(error.message) : error;
    throw new CommandError(`${name}: ${message}`, hint, EXIT.wrong);
  }
}

async function endpointFor(
  object: KubeObject,
  { management, isGatewayHere }: ReadManagement,
  flags: KubeconfigFlags,
): Promise<Omit<EdgeKubeconfigInput, 'name'>> {
  const { value: resolved, finding } = management.exposureIndex.resolve(object);
  if (resolved === undefined) throw new CommandError(finding.message, finding.action);
  const routed = isGatewayHere ? undefined : routedEndpoint(object, management);
  const namespace = flags.operatorNamespace;
  const deps = { management, namespace, proxyImage: '', isGatewayHere };
  const signal = AbortSignal.timeout(READ_TIMEOUT_MS);
  const { facts, reading } = await observeExposure(object, resolved, deps, signal);
  const edgeName = resolved.edge.metadata.name;
  const { endpoint, edge } = routed ?? plannedEndpoint(planExposure(resolved, facts), edgeName);
  const { kubeconfig, controlPlane, findings } = reading;
  if (kubeconfig === undefined) throw kubeconfigMissing(findings);
  const { hostname: host, port } = new URL(`tcp://${endpoint}`);
  const address = flags.byAddress
    ? edgeAddress(facts.edgeAddresses, edge, edgeName)
    : flags.address;
  return {
    text: kubeconfig,
    server: `https://${bracketed(address ?? host)}:${port}`,
    serverName: address === undefined ? undefined : host,
    ca: controlPlane?.ca?.certificate,
  };
}

function kubeconfigMissing(findings: readonly Finding[]): CommandError {
  const texts = findings.map(({ message, action }) => `${message}; ${action}`);
  return texts.length === 0
    ? new CommandError(
        'the tenant has no kubeconfig',
        'wait for its provider or set spec.controlPlane.kubeconfigSecretRef',
      )
    : asCommandError(`the tenant has no kubeconfig: ${texts.join(' ')}`);
}

/** Throws an error if the output file must not be replaced. */
function rejectExistingFile(path: string, name: string, force: boolean): void {
  const present = lstatOf(path, name);
  if (present === undefined) return;
  // An atomic write replaces the path, which would remove a device or a symbolic link.
  if (!present.isFile()) {
    throw new CommandError(
      `${name} already exists and is ${present.isSymbolicLink() ? 'a symbolic link' : 'not a regular file'}`,
      'choose another file or omit -o to print the kubeconfig',
    );
  }
  if (!force) throw fileExists(name);
}

function lstatOf(path: string, name: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch (error) {
    throw writeError(name, error);
  }
}

function writeTo(path: string, text: string, name: string, mayReplace: boolean): void {
  try {
    writeAtomically(path, text, { mayReplace });
  } catch (error) {
    throw error instanceof FileExists ? fileExists(name) : writeError(name, error);
  }
}

function fileExists(name: string): CommandError {
  return new CommandError(
    `${name} already exists`,
    'choose another file or pass --force to overwrite it',
  );
}

/** Returns the error for a file that the system cannot write. Throws errors that are not from the system. */
function writeError(name: string, error: unknown): CommandError {
  const code = systemCode(error);
  if (code === undefined) throw error;
  return new CommandError(`cannot write ${name}: ${code}`, 'choose another file');
}

function bracketed(host: string): string {
  return host.includes(':') ? `[${host}]` : host;
}
