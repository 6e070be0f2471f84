/**
 * Prints plans and findings, and reports errors with messages and exit codes.
 */
import { isKubeError, type KubeError, type KubeErrorReason } from '../../kube/kube-error.ts';
import { keyText } from '../../kube/object.ts';
import { yamlComment } from '../../manifests/yaml-text.ts';
import type { Finding } from '../../api/finding.ts';
import type { Plan } from '../../plan/plan.ts';
import { renderPlan, type RenderOptions } from '../../plan/render.ts';
import { NoExposures } from '../sources/selected-exposures.ts';
import { dryRuns, type DryRunsOptions } from './dry-runs.ts';
import type { ExposurePlan } from './exposure-view.ts';
import { preparationTexts, valuesText } from '../output/preparation-text.ts';
import { READ_TIMEOUT_MS } from '../sources/read-timeout.ts';
import { adviceIn, printAdvice, printMessage, type Advice } from '../output/messages.ts';
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
  await withErrorReporting(io, async () => {
    let isFirst = true;
    for await (const run of dryRuns({ ...options, io })) {
      reportFindings(io, run);
      const text = planText(run, options);
      io.stdout.write(`${isFirst ? '' : '---\n'}${text.trimEnd()}\n`);
      isFirst = false;
    }
    if (isFirst) printMessage(io, 'No Exposures found.');
  });
}

/** Options of {@link planText}. */
export interface PlanTextOptions extends RenderOptions {
  /** Whether to print only the values of k0rdent's chart. Default false. */
  readonly values?: boolean;
}

/** Returns a plan as YAML, below a comment that names its Exposure. */
export function planText(shown: ExposurePlan, options: PlanTextOptions = {}): string {
  if (options.values === true) return valuesText(shown);
  const { object, resolved, plan } = shown;
  const name = `Exposure ${keyText(object.metadata)}`;
  if (plan === undefined || resolved === undefined) {
    const isLeaving = object.metadata.deletionTimestamp !== undefined;
    const why = isLeaving ? 'is being deleted with all its objects' : 'has no plan';
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
      : `${route.host}:${port} is routed to port ${route.port} of Service ${route.service}`,
  );
}

/** Prints findings on standard error, and sets the exit code if one is an error. */
export function reportFindings(
  io: CommandIo,
  { object, findings, reissued }: Pick<ExposurePlan, 'object' | 'findings' | 'reissued'>,
  exitCode: number = EXIT.wrong,
): void {
  const key = keyText(object.metadata);
  // Errors first: the list of warnings may be long.
  const bySeverity = findings.toSorted((a, b) => rank(a) - rank(b));
  for (const { severity, code, message, action } of bySeverity) {
    printAdvice(io, severity, { message: `${key}: ${code}: ${message}`, hint: action });
  }
  if (reissued !== undefined) {
    printMessage(io, `note: ${key}: the credentials of the proxies would be reissued: ${reissued}`);
  }
  if (findings.some(({ severity }) => severity === 'error')) io.exitCode = exitCode;
}

function rank({ severity }: Finding): number {
  return severity === 'error' ? 0 : 1;
}

/** Runs `work`. If a cluster cannot be read, prints an error and sets the exit code, without a stack trace. */
export async function withErrorReporting(io: CommandIo, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!isKubeError(error) && !(error instanceof NoExposures)) throw error;
    printAdvice(io, 'error', isKubeError(error) ? adviceFor(error) : adviceIn(error.message));
    io.exitCode = EXIT.failed;
  }
}

const CHECK_ACCESS =
  'check that the API server is running and that the context is correct: kubectl config current-context';

function adviceFor({ message, reason }: KubeError): Advice {
  // Only the time limit of reading aborts a call.
  return reason === 'Aborted'
    ? {
        message: `the management cluster did not answer within ${READ_TIMEOUT_MS / 1000}s: ${message}`,
        hint: 'check why its API server is slow, and try again',
      }
    : { message, hint: HINTS[reason] };
}

/** What to do about an error of the management cluster. */
const HINTS: Partial<Record<KubeErrorReason, string>> = {
  NotFound:
    'this cluster does not serve Exposures; check the context, or install Snicket: kubectl apply -k deploy',
  Unreachable: CHECK_ACCESS,
  TimedOut: CHECK_ACCESS,
};
