/**
 * Prints plans and findings.
 */
import { keyText } from '../../kube/object.ts';
import { yamlComment } from '../../manifests/yaml-text.ts';
import type { EdgeSpec } from '../../api/edge.ts';
import type { Finding } from '../../api/finding.ts';
import type { Plan } from '../../plan/plan.ts';
import { renderPlan, type RenderOptions } from '../../plan/render.ts';
import { dryRuns, type DryRunsOptions } from './dry-runs.ts';
import type { ExposurePlan } from './exposure-view.ts';
import { preparationTexts, valuesText } from '../output/preparation-text.ts';
import { EXIT, printAdvice, printMessage } from '../output/messages.ts';
import type { CommandIo } from '../io/command-io.ts';

/**
 * Prints the plans of all Exposures without writing to any cluster. The exit code says whether the operator can apply
 * them all.
 */
export async function printPlans(
  io: CommandIo,
  options: Omit<DryRunsOptions, 'io'> & PlanTextOptions,
): Promise<void> {
  let isFirst = true;
  for await (const run of dryRuns({ ...options, io })) {
    reportFindings(io, run);
    const text = planText(run, options);
    io.stdout.write(`${isFirst ? '' : '---\n'}${text.trimEnd()}\n`);
    isFirst = false;
  }
  if (isFirst) printMessage(io, 'No Exposures found.');
}

interface PlanTextOptions extends RenderOptions {
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
    ...routeLines(plan, spec),
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

function routeLines(
  { routes }: Plan,
  { port, driver }: Pick<EdgeSpec, 'port' | 'driver'>,
): readonly string[] {
  const verb = driver === 'None' ? 'must be routed by you' : 'is routed';
  return [routes?.api, routes?.konnectivity].flatMap((route) =>
    route === undefined
      ? []
      : `${route.host}:${port} ${verb} to port ${route.port} of Service ${route.service}`,
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
