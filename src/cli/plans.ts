/**
 * The plans of Exposures, for tools: read from the management cluster and the tenants, and printed.
 */
import { formerRoutes, formerRoutesKept } from '../edges/former-routes.ts';
import type { KubeClient } from '../kube/client.ts';
import { isKubeError, type KubeError, type KubeErrorReason } from '../kube/kube-error.ts';
import { keyText, type KubeObject } from '../kube/object.ts';
import { installedProxyImage, ownProxyImage } from '../operator/installed-image.ts';
import type { Viewpoint } from '../operator/look.ts';
import { ManagementSnapshot } from '../operator/management/management-snapshot.ts';
import { outlookOf, type Outlook } from '../operator/outlook.ts';
import { findingText, type Finding } from '../api/finding.ts';
import type { Plan } from '../plan/plan.ts';
import { renderPlan, type Cluster, type RenderOptions } from '../plan/render.ts';
import { preparationTexts, valuesText } from './preparation-text.ts';
import { isChosen, type Choice } from './management-flags.ts';
import { withProgress } from './progress.ts';
import { READ_MS } from './reading-limit.ts';
import { say } from './say.ts';
import { PROXY_IMAGE } from './proxy-image.ts';

/** Exit codes: something is wrong with what was looked at, or it could not be looked at. */
export const EXIT = { wrong: 1, failed: 2 } as const;

/** How many Exposures are looked at together: most of the time is spent waiting for tenants. */
const TOGETHER = 16;

/** Where plans come from. */
export interface PlansOptions {
  readonly client: KubeClient;
  /** Of the operator. */
  readonly namespace: string;
  /** Default: as the operator's own pod or its Deployment has it, or the image of this version. */
  readonly proxyImage?: string | undefined;
  /** Default: all Exposures. */
  readonly choice?: Choice;
  /** `management`: no tenant is asked. Default: both clusters. */
  readonly only?: Cluster | undefined;
}

/** That what was asked for is not there; the message says what is. */
export class NothingChosen extends Error {
  override readonly name = 'NothingChosen';
}

/** The outlooks of Exposures, by their names. @throws KubeError of the management cluster, NothingChosen */
export async function* outlooks(options: PlansOptions): AsyncGenerator<Outlook, void, undefined> {
  const { client, namespace, choice = {}, only } = options;
  const ended = new AbortController();
  const { signal } = ended;
  try {
    const reading = ManagementSnapshot.read(client, signal);
    const management = await withProgress(`reading ${client.server}`, reading);
    const chosen = chosenOf(management.exposures, choice);
    if (chosen.length === 0 && choice.namespace !== undefined) {
      throw nothingChosen(`in namespace ${choice.namespace}`, management.exposures);
    }
    const proxyImage = options.proxyImage ?? (await proxyImageOf(options, signal));
    const viewpoint: Viewpoint = { management, namespace, proxyImage };
    const ahead: Begun[] = [];
    for (const object of chosen) {
      const outlook = outlookOf(object, viewpoint, signal, { asksTenant: only !== 'management' });
      // Until its turn comes nobody waits for it, and a failure before that would end the process.
      outlook.catch(() => undefined);
      ahead.push({ object, outlook });
      if (ahead.length === TOGETHER) yield withFormerRoutes(await first(ahead));
    }
    while (ahead.length > 0) yield withFormerRoutes(await first(ahead));
  } finally {
    ended.abort();
  }
}

/** The routes of a former driver that the operator does not delete yet. */
export function formerRoutesIn({ wish, plan, management }: Outlook): readonly KubeObject[] {
  if (wish === undefined || plan?.routes === undefined) return [];
  return formerRoutes(management?.superfluous ?? [], wish.edge);
}

/** The outlook with a finding about such routes, if there are some. */
function withFormerRoutes(outlook: Outlook): Outlook {
  const { wish, findings } = outlook;
  const kept = wish && formerRoutesKept(formerRoutesIn(outlook), wish.edge);
  return kept === undefined ? outlook : { ...outlook, findings: [...findings, kept] };
}

interface Begun {
  readonly object: KubeObject;
  readonly outlook: Promise<Outlook>;
}

async function first(ahead: Begun[]): Promise<Outlook> {
  const begun = ahead.shift();
  if (begun === undefined) throw new RangeError('nothing has begun');
  const { object, outlook } = begun;
  return withProgress(`waiting for the tenant of ${keyText(object.metadata)}`, outlook);
}

/** Prints the plans of all Exposures, writes nothing to any cluster. The exit code says whether all can be carried out. */
export async function printPlans(options: PlansOptions & PlanTextOptions): Promise<void> {
  await orSayWhy(async () => {
    let isFirst = true;
    for await (const outlook of outlooks(options)) {
      reportFindings(outlook);
      const text = planText(outlook, options);
      process.stdout.write(`${isFirst ? '' : '---\n'}${text.trimEnd()}\n`);
      isFirst = false;
    }
    if (isFirst) say('there is no Exposure');
  });
}

/** Options of {@link planText}. */
export interface PlanTextOptions extends RenderOptions {
  /** The values of k0rdent's chart in place of all else. Default false. */
  readonly values?: boolean;
}

/** A plan with a head that says whose it is. All of it is YAML. */
export function planText(outlook: Outlook, options: PlanTextOptions = {}): string {
  if (options.values === true) return valuesText(outlook);
  const { object, wish, plan } = outlook;
  const name = `Exposure ${keyText(object.metadata)}`;
  if (plan === undefined || wish === undefined) {
    const isLeaving = object.metadata.deletionTimestamp !== undefined;
    const why = isLeaving ? 'is being deleted, and so is all that was made for it' : 'has no plan';
    return `# ${name} ${why}\n`;
  }
  const { metadata, spec } = wish.edge;
  const head = [
    `${name}: Edge ${metadata.name}, driver ${spec.driver}, mode ${plan.mode}`,
    ...routeLines(plan, spec.port),
  ];
  const prepared = options.only === 'tenant' ? [] : preparationTexts(outlook);
  // Where the fields of a provider are all that there is, that is not nothing.
  const isNothingElse = prepared.length > 0 && plan.management?.length === 0;
  const rest = !isNothingElse
    ? [renderPlan(plan, options)]
    : options.only === undefined
      ? [renderPlan(plan, { ...options, only: 'tenant' })]
      : [];
  const body = [...prepared, ...rest].join('---\n');
  return `${head.map((line) => `# ${line}\n`).join('')}${body}`;
}

function routeLines({ routes }: Plan, port: number): readonly string[] {
  return [routes?.api, routes?.konnectivity].flatMap((route) =>
    route === undefined
      ? []
      : `${route.host}:${port} leads to port ${route.port} of Service ${route.service}`,
  );
}

/** Says on standard error what a person has to know, and remembers it in the exit code. */
export function reportFindings(
  { object, findings, reissued }: Pick<Outlook, 'object' | 'findings' | 'reissued'>,
  exitCode: number = EXIT.wrong,
): void {
  const key = keyText(object.metadata);
  // What is wrong first: the rest may be long.
  const bySeverity = findings.toSorted((a, b) => rank(a) - rank(b));
  for (const finding of bySeverity) say(findingLine(key, finding));
  if (reissued !== undefined) {
    say(`note: ${key}: the proxies would get new credentials: ${reissued}`);
  }
  if (findings.some(({ severity }) => severity === 'error')) process.exitCode = exitCode;
}

function rank({ severity }: Finding): number {
  return severity === 'error' ? 0 : 1;
}

function findingLine(key: string, finding: Finding): string {
  return `${finding.severity}: ${key}: ${finding.code}: ${findingText(finding)}`;
}

/** Does it; that a cluster cannot be read is a sentence and an exit code, not a stack. */
export async function orSayWhy(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!isKubeError(error) && !(error instanceof NothingChosen)) throw error;
    say(`error: ${isKubeError(error) ? failureText(error) : error.message}`);
    process.exitCode = EXIT.failed;
  }
}

const LOOK_AT_ACCESS =
  '; see that the API server runs, and that the kubeconfig and its context are the right ones: kubectl config current-context';

function failureText(error: KubeError): string {
  const { message, reason } = error;
  // Nobody but the limit of a reading ends a call.
  if (reason === 'Aborted') {
    return `the management cluster has not answered all that was asked within ${READ_MS / 1000} s (${message}); see why its API server is slow, and try again`;
  }
  return `${message}${WAYS_OUT[reason] ?? ''}`;
}

/** What to do, where the error alone does not say it. */
const WAYS_OUT: Partial<Record<KubeErrorReason, string>> = {
  NotFound:
    '; this cluster does not know Exposures: is it the management cluster? If it is, install Snicket there: kubectl apply -k deploy',
  Unreachable: LOOK_AT_ACCESS,
  TimedOut: LOOK_AT_ACCESS,
};

/** The Exposures that are meant, by their names. @throws NothingChosen if one is meant that is not there */
export function chosenOf(exposures: readonly KubeObject[], choice: Choice): readonly KubeObject[] {
  const chosen = exposures
    .filter(({ metadata }) => isChosen(choice, metadata))
    .toSorted((a, b) => (keyText(a.metadata) < keyText(b.metadata) ? -1 : 1));
  if (chosen.length > 0 || choice.name === undefined) return chosen;
  throw nothingChosen(`${choice.namespace}/${choice.name}`, exposures);
}

/**
 * That there is no Exposure where nobody has named one, and how to see more if there may be more. Where files have faults,
 * there may be one in those.
 */
export function noExposureText([{ namespace } = {}]: readonly Choice[], hasFaults = false): string {
  if (hasFaults) return 'no Exposure can be looked at before that is corrected';
  return `there is no Exposure${namespace === undefined ? '' : ` in ${namespace}; -A means all`}`;
}

function nothingChosen(what: string, exposures: readonly KubeObject[]): NothingChosen {
  const names = exposures.map(({ metadata }) => keyText(metadata)).toSorted();
  return new NothingChosen(
    `there is no Exposure ${what}; there ${names.length === 0 ? 'is none at all' : `${names.length === 1 ? 'is' : 'are'} ${names.slice(0, 20).join(', ')}${names.length > 20 ? ', ...' : ''}`}`,
  );
}

/** The image that the operator gives to proxies, as far as can be told. @throws KubeError */
export async function proxyImageOf(
  { client, namespace }: Pick<PlansOptions, 'client' | 'namespace'>,
  signal: AbortSignal,
): Promise<string> {
  const own = ownProxyImage();
  if (own !== undefined) return own;
  try {
    return (await installedProxyImage(client, namespace, signal)) ?? PROXY_IMAGE;
  } catch (error) {
    if (!isKubeError(error, 'Forbidden')) throw error;
    say(
      `warning: the operator's Deployment cannot be read, so its proxies are taken to be of image ${PROXY_IMAGE}; name another with --proxy-image`,
    );
    return PROXY_IMAGE;
  }
}
