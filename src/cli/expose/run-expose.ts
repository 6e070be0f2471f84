/**
 * Exposes a control plane: decides on the Exposure, previews it, creates it, and waits for it.
 */
import { InvalidObjectError } from '../../api/fault.ts';
import { parseExposureStrictly } from '../../api/objects.ts';
import { AccessError } from '../../kube/access/cluster-access.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import { isKubeError } from '../../kube/kube-error.ts';
import { keyText, type KubeObject } from '../../kube/object.ts';
import { RESOURCES } from '../../kube/resource.ts';
import { ManagementSnapshot } from '../../management/management-snapshot.ts';
import { dryRun, type DryRun } from '../../reconcile/dry-run.ts';
import { yamlText } from '../../manifests/yaml-text.ts';
import { programName } from '../output/program-name.ts';
import { nameText, valueText } from '../output/output.ts';
import { reportFindings } from '../plans/plans.ts';
import { withProgress } from '../output/progress.ts';
import { READ_TIMEOUT_MS } from '../sources/read-timeout.ts';
import { adviceIn, CommandError, EXIT, printAdvice, printMessage } from '../output/messages.ts';
import type { ExposeFlags } from '../expose.ts';
import { FOLDER_NAMESPACE } from '../flags/management-flags.ts';
import { openManagement, type OpenedManagement } from '../sources/open-management.ts';
import type { NamedControlPlane } from './control-planes.ts';
import { decideExposure, type RequestedExposure } from './decide.ts';
import { SecretsSource } from './decide-secrets.ts';
import { reportExisting } from './existing.ts';
import { exposedText } from './exposed-text.ts';
import { followUntilReady } from './follow.ts';
import { NO_TERMINAL, TerminalQuestions, type Questions } from './questions.ts';
import { draftWithoutCluster, isNamedInFull } from './without-cluster.ts';
import type { CommandIo } from '../io/command-io.ts';

const NOTHING_CREATED = 'nothing created';

/** Runs the command, and sets the exit code. @throws AccessError, CommandError, KubeError */
export async function runExpose(
  io: CommandIo,
  controlPlane: NamedControlPlane | undefined,
  flags: ExposeFlags,
): Promise<void> {
  const opened = await openOrDraft(io, controlPlane, flags);
  if (opened === undefined) return;
  const { client, access } = opened;
  const requested = { ...flags, controlPlane, defaultNamespace: access.namespace };
  await exposeControlPlane(io, client, requested, flags);
  // Watches on a lost connection would keep the process alive.
  if (flags.wait) io.exit();
}

/** Returns the cluster, or undefined if there is none and the Exposure was printed without it. @throws AccessError */
async function openOrDraft(
  io: CommandIo,
  controlPlane: NamedControlPlane | undefined,
  flags: ExposeFlags,
): Promise<OpenedManagement | undefined> {
  try {
    return openManagement(io, flags);
  } catch (error) {
    const isNone = error instanceof AccessError && error.code === 'AccessMissing';
    if (!isNone || !flags.dryRun || flags.kubeconfig !== undefined) throw error;
    const requested = { ...flags, controlPlane, defaultNamespace: FOLDER_NAMESPACE };
    if (isNamedInFull(requested)) {
      await printWithoutCluster(io, requested, flags, error.message);
      return undefined;
    }
    const requirement = 'without a cluster, --dry-run requires KIND/NAME or --endpoints';
    throw new AccessError(error.code, `${error.message}; ${requirement}`, error);
  }
}

async function exposeControlPlane(
  io: CommandIo,
  client: KubeClient,
  requested: RequestedExposure,
  options: ExposeFlags,
): Promise<void> {
  const management = await readCluster(io, client, requested, options);
  using terminal = io.stdin.isTTY && io.stderr.isTTY ? new TerminalQuestions(io) : undefined;
  // No common deadline, because the user may take any time to answer. Each call has its own timeout.
  const secrets = new SecretsSource(client, new AbortController().signal);
  const known = { io, management, secrets, questions: terminal ?? NO_TERMINAL };
  const object = await decideExposure(requested, known);
  if (object === undefined) {
    printMessage(io, NOTHING_CREATED);
    return;
  }
  const key = keyText(object.metadata);
  const existing = management.exposures.find(({ metadata }) => keyText(metadata) === key);
  if (existing === undefined) {
    const preview = await previewOf(io, object, management, options.operatorNamespace);
    if (preview === undefined) return;
    // Without an Edge it has no hosts. The error says what to do.
    if (options.dryRun && preview.findings.some(({ code }) => code === 'EdgeNotFound')) return;
    if (options.dryRun) return print(io, object, options);
    if (!(await mayWrite(io, object, preview, options, terminal))) return;
    if (!(await hasWritten(io, client, object, preview, options))) return;
  } else if (!reportExisting(io, existing, object, options)) {
    return;
  }
  if (options.wait && !(await followUntilReady(io, client, object, options))) {
    io.exitCode = EXIT.wrong;
  }
}

function print(io: CommandIo, object: KubeObject, { output }: Pick<ExposeFlags, 'output'>): void {
  io.stdout.write(
    output === 'name'
      ? nameText('exposure', object.metadata.name)
      : valueText(object, output === 'json' ? 'json' : 'yaml'),
  );
}

/** Returns the dry run and prints its findings; undefined if the Exposure is invalid. */
async function previewOf(
  io: CommandIo,
  object: KubeObject,
  management: ManagementSnapshot,
  namespace: string,
): Promise<DryRun | undefined> {
  if (!isValid(io, object)) return undefined;
  // The machine of a user can rarely reach a tenant.
  const deps = { management, namespace, proxyImage: '', readsTenants: false };
  const running = dryRun(object, deps, AbortSignal.timeout(READ_TIMEOUT_MS));
  const preview = await withProgress(io, 'reading the control plane', running);
  reportFindings(io, preview);
  return preview;
}

/** Reports whether an API server would accept the Exposure. Prints an error if not. */
function isValid(io: CommandIo, object: KubeObject): boolean {
  try {
    parseExposureStrictly(object);
    return true;
  } catch (error) {
    if (!(error instanceof InvalidObjectError)) throw error;
    for (const { path, sentence } of error.faults) {
      printAdvice(io, 'error', adviceIn(path === '' ? sentence : `${path}: ${sentence}`));
    }
    io.exitCode = EXIT.wrong;
    return false;
  }
}

/** Reads the cluster. If it does not respond, a dry run first prints what the flags alone provide. @throws KubeError */
async function readCluster(
  io: CommandIo,
  client: KubeClient,
  requested: RequestedExposure,
  options: ExposeFlags,
): Promise<ManagementSnapshot> {
  try {
    const reading = ManagementSnapshot.read(client, AbortSignal.timeout(READ_TIMEOUT_MS));
    return await withProgress(io, `reading ${client.server}`, reading);
  } catch (error) {
    const isUnresponsive = isKubeError(error, 'Unreachable', 'TimedOut');
    if (isUnresponsive && options.dryRun && isNamedInFull(requested))
      await printIfComplete(io, requested, options);
    throw error;
  }
}

async function printIfComplete(
  io: CommandIo,
  requested: RequestedExposure,
  options: ExposeFlags,
): Promise<void> {
  try {
    await printWithoutCluster(io, requested, options, 'the management cluster does not respond');
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    printMessage(io, `note: cannot print the Exposure without the cluster: ${error.text}`);
  }
}

/**
 * Prints the Exposure that the flags alone describe, why no cluster was read, and what was not checked.
 *
 * @throws CommandError
 */
async function printWithoutCluster(
  io: CommandIo,
  requested: RequestedExposure,
  { output }: Pick<ExposeFlags, 'output'>,
  why: string,
): Promise<void> {
  const { object, unchecked } = await draftWithoutCluster(io, requested);
  if (!isValid(io, object)) return;
  print(io, object, { output });
  printAdvice(io, 'warning', adviceIn(why));
  for (const assumption of unchecked) printMessage(io, `note: not checked: ${assumption}`);
}

async function mayWrite(
  io: CommandIo,
  object: KubeObject,
  { findings }: DryRun,
  { yes }: ExposeFlags,
  terminal: Questions | undefined,
): Promise<boolean> {
  const hasErrors = findings.some(({ severity }) => severity === 'error');
  if (yes) return true;
  if (terminal === undefined) {
    if (hasErrors) printMessage(io, 'nothing created; correct the errors above or pass --yes');
    return !hasErrors;
  }
  io.stderr.write(`\n${yamlText(object)}\n`);
  const question = hasErrors ? 'Create it despite the errors?' : 'Create it?';
  const isWanted = await terminal.confirm(
    { question, flag: '--yes', value: 'creates it without confirmation' },
    !hasErrors,
  );
  if (!isWanted) printMessage(io, NOTHING_CREATED);
  return isWanted;
}

/** Creates the Exposure. Returns whether it now exists as desired. */
async function hasWritten(
  io: CommandIo,
  client: KubeClient,
  object: KubeObject,
  preview: DryRun,
  options: ExposeFlags,
): Promise<boolean> {
  try {
    const created = await client.create(RESOURCES.exposure, object);
    const { output } = options;
    if (output === 'table') io.stdout.write(exposedText(programName(io), created, preview));
    else print(io, created, { output });
    // The user has seen the errors of the plan and created it anyway.
    io.exitCode = 0;
    return true;
  } catch (error) {
    // Another client has created it in the meantime.
    const existing = isKubeError(error, 'AlreadyExists')
      ? await client.get(RESOURCES.exposure, object.metadata)
      : undefined;
    if (existing === undefined) throw error;
    return reportExisting(io, existing, object, options);
  }
}
