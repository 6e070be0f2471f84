/**
 * Examines Exposures concurrently and returns the results in order.
 */
import { keyText, type KubeObject } from '../../kube/object.ts';
import type { ObserveDeps } from '../../reconcile/observe.ts';
import type { ManagementSnapshot } from '../../management/management-snapshot.ts';
import { dryRun } from '../../reconcile/dry-run.ts';
import type { Lookup } from '../../probe/hops/dns.ts';
import type { KnownAuthorities } from '../../probe/tls/authorities.ts';
import { inOrder } from '../io/in-order.ts';
import { withProgress, type ProgressIo } from '../output/progress.ts';
import { allAuthorities } from './all-authorities.ts';
import { RedactedView } from './redacted-view.ts';
import { examine, type Examination } from './examination.ts';
import { outdatedOperator, withOutdatedOperator } from './outdated-operator.ts';

interface ExaminingOptions extends Omit<ObserveDeps, 'management'> {
  readonly management: ManagementSnapshot;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** Default: the resolver of this machine. */
  readonly lookup?: Lookup | undefined;
}

/** Maximum number of concurrent examinations. Most of the time is spent waiting for tenants and for timeouts. */
const MAX_CONCURRENT = 8;

/** Yields the result for each Exposure, in order. @throws KubeError of the management cluster */
export async function* examineAll(
  io: ProgressIo,
  exposures: readonly KubeObject[],
  options: ExaminingOptions,
): AsyncGenerator<Examination, void, undefined> {
  const { management, signal } = options;
  let authorities: Promise<KnownAuthorities> | undefined;
  const knownAuthorities = async () => (authorities ??= allAuthorities(management, signal));
  const start = async (object: KubeObject) => examineOne(object, options, knownAuthorities);
  for await (const { item, result } of inOrder(exposures, MAX_CONCURRENT, start)) {
    yield await withProgress(io, `waiting for ${keyText(item.metadata)}`, result);
  }
}

async function examineOne(
  object: KubeObject,
  options: ExaminingOptions,
  knownAuthorities: () => Promise<KnownAuthorities>,
): Promise<Examination> {
  const { signal, timeoutMs, lookup } = options;
  const view = new RedactedView(options.management);
  const run = await dryRun(object, { ...options, management: view }, signal);
  const findings = view.explained(run.findings);
  const deps = { signal, timeoutMs, lookup, knownAuthorities };
  const found = await examine({ ...run, findings }, deps);
  // In the folder of `snicket run` no Exposure has a status.
  return options.isGatewayHere === true
    ? found
    : withOutdatedOperator(found, outdatedOperator(object, options.namespace));
}
