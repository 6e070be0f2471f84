/**
 * Exposes a control plane: decide, foresee, write, follow.
 */
import type { Outlook } from '../../operator/outlook.ts';
import { InvalidObjectError } from '../../api/fault.ts';
import { parseExposureStrictly } from '../../api/objects.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import { isKubeError } from '../../kube/kube-error.ts';
import { keyText, type KubeObject } from '../../kube/object.ts';
import { RESOURCES } from '../../kube/resource.ts';
import { ManagementSnapshot } from '../../operator/management/management-snapshot.ts';
import { outlookOf } from '../../operator/outlook.ts';
import { yamlText } from '../../manifests/yaml-text.ts';
import { valueText, type Output } from '../output/output.ts';
import { EXIT, reportFindings } from '../plans/plans.ts';
import { withProgress } from '../output/progress.ts';
import { READ_MS } from '../sources/reading-limit.ts';
import { say } from '../output/say.ts';
import { CannotExpose } from './cannot-expose.ts';
import { decideExposure, type ExposeWishes } from './decide.ts';
import { SecretsSource } from './decide-secrets.ts';
import { meetExisting } from './existing.ts';
import { exposedText } from './exposed-text.ts';
import { followUntilReady } from './follow.ts';
import { AnswerMissing, NOBODY, Person, type Questions } from './questions.ts';
import { draftWithoutCluster, isNamedInFull } from './without-cluster.ts';

/** How to go about it. */
export interface ExposeOptions {
  readonly operatorNamespace: string;
  readonly output: Output;
  /** Print it, and write nothing. */
  readonly dryRun: boolean;
  /** Do not ask before it is written. */
  readonly yes: boolean;
  /** Until it is Ready. */
  readonly wait: boolean;
  readonly timeoutMs: number;
}

const NOTHING_WRITTEN = 'nothing is written';

/** Exposes it. The exit code says how that went. @throws CannotExpose, AnswerMissing, KubeError */
export async function exposeControlPlane(
  client: KubeClient,
  wishes: ExposeWishes,
  options: ExposeOptions,
): Promise<void> {
  const management = await readCluster(client, wishes, options);
  using person = process.stdin.isTTY && process.stderr.isTTY ? new Person() : undefined;
  // Nobody knows how long a person thinks: each call has its own limit.
  const secrets = new SecretsSource(client, new AbortController().signal);
  const known = { management, secrets, questions: person ?? NOBODY };
  const object = await decideExposure(wishes, known);
  if (object === undefined) {
    say(NOTHING_WRITTEN);
    return;
  }
  const key = keyText(object.metadata);
  const existing = management.exposures.find(({ metadata }) => keyText(metadata) === key);
  if (existing === undefined) {
    const outlook = await foreseen(object, management, options.operatorNamespace);
    if (outlook === undefined) return;
    if (options.dryRun) return print(object, options);
    if (!(await mayWrite(object, outlook, options, person))) return;
    if (!(await hasWritten(client, object, outlook, options))) return;
  } else if (!meetExisting(existing, object, options)) {
    return;
  }
  if (options.wait && !(await followUntilReady(client, object, options))) {
    process.exitCode = EXIT.wrong;
  }
}

function print(object: KubeObject, { output }: Pick<ExposeOptions, 'output'>): void {
  process.stdout.write(valueText(object, output === 'json' ? 'json' : 'yaml'));
}

/** What would come of it, with all findings said; undefined if it is no good Exposure at all. */
async function foreseen(
  object: KubeObject,
  management: ManagementSnapshot,
  namespace: string,
): Promise<Outlook | undefined> {
  if (!isSound(object)) return undefined;
  const viewpoint = { management, namespace, proxyImage: '' };
  // A tenant is mostly not reachable from where people sit.
  const looking = outlookOf(object, viewpoint, AbortSignal.timeout(READ_MS), { asksTenant: false });
  const outlook = await withProgress('reading the control plane', looking);
  reportFindings(outlook);
  return outlook;
}

/** Whether an API server would take it; if not, that is told. */
function isSound(object: KubeObject): boolean {
  try {
    parseExposureStrictly(object);
    return true;
  } catch (error) {
    if (!(error instanceof InvalidObjectError)) throw error;
    say(`error: ${error.message}`);
    process.exitCode = EXIT.wrong;
    return false;
  }
}

/** The cluster. Where it does not answer, a dry run shows what it can before that is told. @throws KubeError */
async function readCluster(
  client: KubeClient,
  wishes: ExposeWishes,
  options: ExposeOptions,
): Promise<ManagementSnapshot> {
  try {
    const reading = ManagementSnapshot.read(client, AbortSignal.timeout(READ_MS));
    return await withProgress(`reading ${client.server}`, reading);
  } catch (error) {
    const isSilent = isKubeError(error, 'Unreachable', 'TimedOut');
    if (isSilent && options.dryRun && isNamedInFull(wishes)) await printIfSaid(wishes, options);
    throw error;
  }
}

async function printIfSaid(wishes: ExposeWishes, options: ExposeOptions): Promise<void> {
  try {
    await printWithoutCluster(wishes, options, 'the management cluster does not answer');
  } catch (error) {
    if (!(error instanceof CannotExpose) && !(error instanceof AnswerMissing)) throw error;
    say(`note: to see the Exposure without the cluster: ${error.message}`);
  }
}

/** Prints the Exposure that flags alone come to, why no cluster was asked, and what nobody looked at. @throws CannotExpose, AnswerMissing */
export async function printWithoutCluster(
  wishes: ExposeWishes,
  { output }: Pick<ExposeOptions, 'output'>,
  why: string,
): Promise<void> {
  const { object, unchecked } = await draftWithoutCluster(wishes);
  if (!isSound(object)) return;
  print(object, { output });
  say(`warning: ${why}`);
  for (const one of unchecked) say(`note: not checked: ${one}`);
}

async function mayWrite(
  object: KubeObject,
  { findings }: Outlook,
  { yes }: ExposeOptions,
  person: Questions | undefined,
): Promise<boolean> {
  const hasErrors = findings.some(({ severity }) => severity === 'error');
  if (yes) return true;
  if (person === undefined) {
    if (hasErrors) say('nothing is written; mend that, or write --yes');
    return !hasErrors;
  }
  process.stderr.write(`\n${yamlText(object)}\n`);
  const question = hasErrors ? 'Write it all the same?' : 'Write it?';
  const isWanted = await person.confirm({ question, flag: '--yes' }, !hasErrors);
  if (!isWanted) say(NOTHING_WRITTEN);
  return isWanted;
}

/** Whether it is there as it should be then. */
async function hasWritten(
  client: KubeClient,
  object: KubeObject,
  outlook: Outlook,
  options: ExposeOptions,
): Promise<boolean> {
  try {
    const made = await client.create(RESOURCES.exposure, object);
    const { output } = options;
    process.stdout.write(output === 'table' ? exposedText(made, outlook) : valueText(made, output));
    // Errors of the plan were told, and he wrote it all the same.
    process.exitCode = 0;
    return true;
  } catch (error) {
    // Somebody was faster.
    const existing = isKubeError(error, 'AlreadyExists')
      ? await client.get(RESOURCES.exposure, object.metadata)
      : undefined;
    if (existing === undefined) throw error;
    return meetExisting(existing, object, options);
  }
}
