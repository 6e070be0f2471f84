/**
 * Prepares the objects of a provider for an Exposure.
 */
import { isKubeError, type KubeError } from '../../kube/kube-error.ts';
import { keyText, type KubeObject } from '../../kube/object.ts';
import { handledClasses } from '../../management/ingress-classes.ts';
import type { ManagementView } from '../../management/management-view.ts';
import type { Plan } from '../../plan/plan.ts';
import { isRouteOf } from '../../plan/provider-ingress.ts';
import { publishedFindings } from '../../providers/reading/published-server.ts';
import {
  renewableSecrets,
  type RenewableSecret,
} from '../../providers/reading/renewable-secrets.ts';
import { addExposureFinalizer, PREPARATION_FINALIZER } from '../finalizers.ts';
import { StepFailed } from '../management-fault.ts';
import type { Observation } from '../observe.ts';
import type { ReconcileDeps } from '../reconcile-deps.ts';
import { previousHosts } from '../routes/observe-routes.ts';
import type { PreparationInput, PreparationOutcome } from './next-step.ts';
import type { StaleSecrets } from './secret-renewals.ts';

/** The result of a preparation. After a `fault`, it says nothing about the objects. */
export interface ExposurePreparation extends PreparationOutcome {
  readonly fault?: KubeError;
}

/** The result without a provider, or before there are hosts. */
export const NOTHING_TO_PREPARE: ExposurePreparation = {
  plans: [],
  isPrepared: true,
  findings: [],
};

/** Returns what to prepare for an Exposure; undefined if it has no provider or no hosts yet. */
export function preparationInput(
  { object, resolved, reading: { provided }, facts: { served } }: Observation,
  { hosts }: Pick<Plan, 'hosts'>,
  management: ManagementView,
): PreparationInput | undefined {
  if (provided === undefined || hosts === undefined) return undefined;
  const { exposure, edge } = resolved;
  const { prepare: policy } = exposure.spec;
  const key = keyText(object.metadata);
  return {
    policy,
    provided,
    spec: {
      hosts,
      port: edge.spec.port,
      // A user who writes the fields does not need previous hosts.
      previousHosts: policy === 'Report' ? [] : previousHosts(management, object, hosts),
      handledClasses: handledClasses(edge, management),
      template: provided.template,
      keepsIngress:
        edge.spec.driver === 'None' ||
        (provided.ingress !== undefined && isRouteOf(edge, provided.ingress, hosts, served)),
    },
    owner: {
      exposure: object,
      otherOwner: (uid) => management.exposureIndex.preparedBy(uid, key),
    },
  };
}

/**
 * Prepares the objects of the provider. Undefined if the Exposure is being deleted. For a tenant in use, an error of the
 * management cluster is returned as `fault`, so that the tenant is reconciled first. @throws StepFailed
 */
export async function prepareExposure(
  observation: Observation,
  plan: Plan,
  {
    hasDesiredHosts,
    staleSecrets,
  }: { readonly hasDesiredHosts: boolean; readonly staleSecrets: StaleSecrets },
  deps: ReconcileDeps,
  signal: AbortSignal,
): Promise<ExposurePreparation | undefined> {
  try {
    return await prepare(observation, plan, staleSecrets, deps, signal);
  } catch (error) {
    if (!isKubeError(error)) throw error;
    if (!hasDesiredHosts || signal.aborted) throw new StepFailed('Prepared', error);
    return { plans: [], isPrepared: false, findings: [], fault: error };
  }
}

async function prepare(
  observation: Observation,
  plan: Plan,
  staleSecrets: StaleSecrets,
  deps: ReconcileDeps,
  signal: AbortSignal,
): Promise<ExposurePreparation | undefined> {
  const { object, reading } = observation;
  const { provided } = reading;
  const input = preparationInput(observation, plan, deps.management);
  if (provided === undefined || input === undefined) return NOTHING_TO_PREPARE;
  const { policy, spec } = input;
  const { preparer, statuses } = deps;
  if (policy !== 'Report') {
    const exists = await addExposureFinalizer(deps, object, PREPARATION_FINALIZER, signal);
    if (!exists) return undefined;
  }
  const outcome = await preparer.prepare(input, signal, (before, after) =>
    statuses.wrote(before, after),
  );
  // The provider needs time to react to the write. The next reconcile observes the result.
  const isWritten = outcome.plans.some(({ differing }) => differing.length > 0);
  if (!outcome.isPrepared || isWritten) return outcome;
  const published = publishedFindings(provided, spec, policy);
  const findings = [...outcome.findings, ...published];
  if (published.length === 0 || policy === 'Report') return { ...outcome, findings };
  const secrets = renewableSecrets(provided, spec);
  const requeueAfterMs = await renewSecrets(object, secrets, staleSecrets, deps, signal);
  return { ...outcome, findings, requeueAfterMs };
}

/** Deletes stale Secrets, so that the provider creates them again; returns when to reconcile again. @throws KubeError */
async function renewSecrets(
  object: KubeObject,
  secrets: readonly RenewableSecret[],
  staleSecrets: StaleSecrets,
  { renewals, events }: ReconcileDeps,
  signal: AbortSignal,
): Promise<number | undefined> {
  const { deleted, requeueAfterMs } = await renewals.renew(staleSecrets, secrets, { signal });
  for (const key of deleted) {
    const note = `Secret ${keyText(key)} did not have the hosts of the edge and was deleted. Its provider creates it again.`;
    events.record(object, { type: 'Normal', action: 'Prepare', reason: 'SecretRenewed', note });
  }
  return requeueAfterMs;
}
