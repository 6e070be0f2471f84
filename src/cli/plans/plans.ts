/**
 * Prints plans and findings, and reports errors with messages and exit codes.
 */
import { isKubeError, type KubeError, type KubeErrorReason } from '../../kube/kube-error.ts';
import { keyText } from '../../kube/object.ts';
import { yamlComment } from '../../manifests/yaml-text.ts';
import { findingText, type Finding } from '../../api/finding.ts';
import type { Plan } from '../../plan/plan.ts';
import { renderPlan, type RenderOptions } from '../../plan/render.ts';
import { NothingChosen } from '../sources/chosen-exposures.ts';
import { dryRuns, type DryRunsOptions } from './dry-runs.ts';
import type { ShownExposure } from './shown-exposure.ts';
import { preparationTexts, valuesText } from '../output/preparation-text.ts';
import { READ_MS } from '../sources/reading-limit.ts';
import { say } from '../output/say.ts';
import type { CommandIo } from '../io/command-io.ts';

/** Exit codes: `wrong` if the examined objects have errors, `failed` if they could not be examined. */
export const EXIT = { wrong: 1, failed: 2 } as const;

/**
 * Prints the plans of all Exposures without writing to any cluster. The exit code says whether the operator can apply
 * them all.
 */
export async function printPlans(
  io: CommandIo,
  options: Omit<DryRunsOptions, 'io'> & PlanTextOptions,
): Promise<void> {
  await orSayWhy(io, async () => {
    let isFirst = true;
    for await (const run of dryRuns({ ...options, io })) {
      reportFindings(io, run);
      const text = planText(run, options);
      io.stdout.write(`${isFirst ? '' : '---\n'}${text.trimEnd()}\n`);
      isFirst = false;
    }
    if (isFirst) say(io, 'there is no Exposure');
  });
}

/** Options of {@link planText}. */
export interface PlanTextOptions extends RenderOptions {
  /** Whether to print only the values of k0rdent's chart. Default false. */
  readonly values?: boolean;
}

/** Returns a plan as YAML, below a comment that names its Exposure. */
export function planText(shown: ShownExposure, options: PlanTextOptions = {}): string {
  if (options.values === true) return valuesText(shown);
  const { object, resolved, plan } = shown;
  const name = `Exposure ${keyText(object.metadata)}`;
  if (plan === undefined || resolved === undefined) {
    const isLeaving = object.metadata.deletionTimestamp !== undefined;
    const why = isLeaving ? 'is being deleted, and so is all that was made for it' : 'has no plan';
    return yamlComment(`${name} ${why}`);
  }
  const { metadata, spec } = resolved.edge;
  const head = [
    `${name}: Edge ${metadata.name}, driver ${spec.driver}, mode ${plan.mode}`,
    ...routeLines(plan, spec.port),
  ];
  const prepared = options.only === 'tenant' ? [] : preparationTexts(shown);
  // If there are fields for a provider, an empty management part is left out.
  const isNothingElse = prepared.length > 0 && plan.management?.length === 0;
  const rest = !isNothingElse
    ? [renderPlan(plan, options)]
    : options.only === undefined
      ? [renderPlan(plan, { ...options, only: 'tenant' })]
      : [];
  const body = [...prepared, ...rest].join('---\n');
  return `${head.map(yamlComment).join('')}${body}`;
}

function routeLines({ routes }: Plan, port: number): readonly string[] {
  return [routes?.api, routes?.konnectivity].flatMap((route) =>
    route === undefined
      ? []
      : `${route.host}:${port} leads to port ${route.port} of Service ${route.service}`,
  );
}

/** Prints findings on standard error, and sets the exit code if one is an error. */
export function reportFindings(
  io: CommandIo,
  { object, findings, reissued }: Pick<ShownExposure, 'object' | 'findings' | 'reissued'>,
  exitCode: number = EXIT.wrong,
): void {
  const key = keyText(object.metadata);
  // Errors first: the list of warnings may be long.
  const bySeverity = findings.toSorted((a, b) => rank(a) - rank(b));
  for (const finding of bySeverity) say(io, findingLine(key, finding));
  if (reissued !== undefined) {
    say(io, `note: ${key}: the proxies would get new credentials: ${reissued}`);
  }
  if (findings.some(({ severity }) => severity === 'error')) io.exitCode = exitCode;
}

function rank({ severity }: Finding): number {
  return severity === 'error' ? 0 : 1;
}

function findingLine(key: string, finding: Finding): string {
  return `${finding.severity}: ${key}: ${finding.code}: ${findingText(finding)}`;
}

/** Runs `work`. If a cluster cannot be read, prints an error and sets the exit code, without a stack trace. */
export async function orSayWhy(io: CommandIo, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!isKubeError(error) && !(error instanceof NothingChosen)) throw error;
    say(io, `error: ${isKubeError(error) ? failureText(error) : error.message}`);
    io.exitCode = EXIT.failed;
  }
}

const LOOK_AT_ACCESS =
  '; see that the API server runs, and that the kubeconfig and its context are the right ones: kubectl config current-context';

function failureText(error: KubeError): string {
  const { message, reason } = error;
  // Only the time limit of reading aborts a call.
  if (reason === 'Aborted') {
    return `the management cluster has not answered all that was asked within ${READ_MS / 1000} s (${message}); see why its API server is slow, and try again`;
  }
  return `${message}${WAYS_OUT[reason] ?? ''}`;
}

/** What to do, for errors that do not say it themselves. */
const WAYS_OUT: Partial<Record<KubeErrorReason, string>> = {
  NotFound:
    '; this cluster does not know Exposures: is it the management cluster? If it is, install Snicket there: kubectl apply -k deploy',
  Unreachable: LOOK_AT_ACCESS,
  TimedOut: LOOK_AT_ACCESS,
};
