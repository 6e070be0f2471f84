/**
 * Prepares the objects of providers for Exposures.
 */
import type { EventRecorder } from '../../kube/events/events.ts';
import { isKubeError, type KubeError } from '../../kube/kube-error.ts';
import { keyText, type KubeObject } from '../../kube/object.ts';
import { publishedFindings } from '../../providers/reading/published-server.ts';
import {
  renewableSecrets,
  type RenewableSecret,
} from '../../providers/reading/renewable-secrets.ts';
import type { Plan } from '../../plan/plan.ts';
import type { Observation } from '../observe.ts';
import type { ManagementAccess, ManagementView } from '../../management/management-view.ts';
import { StepFailed } from '../management-fault.ts';
import { preparationFor } from './exposure-preparation.ts';
import type { PreparationInput, PreparationOutcome } from './next-step.ts';
import type { Preparer } from './preparer.ts';
import type { SecretRenewals, StaleSecrets } from './secret-renewals.ts';
import { previousHosts } from '../routes/observe-routes.ts';
import {
  addExposureFinalizer,
  PREPARATION_FINALIZER,
  type ExposureVersions,
} from '../finalizers.ts';

/** The result of a preparation; unknown after a fault. */
export interface ExposurePreparation extends PreparationOutcome {
  readonly fault?: KubeError;
}

/** The result without a provider, or before there are hosts. */
export const NOTHING_TO_PREPARE: ExposurePreparation = {
  plans: [],
  isPrepared: true,
  findings: [],
};

/** Options of {@link ExposurePreparations}. */
export interface ExposurePreparationsOptions {
  readonly management: ManagementAccess;
  readonly preparer: Preparer;
  readonly renewals: SecretRenewals;
  readonly events: Pick<EventRecorder, 'record'>;
  readonly versions: ExposureVersions;
}

/** The preparation for an Exposure; undefined without a provider, or without hosts. */
export function preparationInput(
  { object, resolved, reading: { provided } }: Observation,
  { hosts }: Pick<Plan, 'hosts'>,
  management: ManagementView,
): PreparationInput | undefined {
  if (provided === undefined || hosts === undefined) return undefined;
  return preparationFor(object, resolved, hosts, provided, {
    management,
    previousHosts: previousHosts(management, object, hosts),
  });
}

/** Prepares control planes for their Exposures. */
export class ExposurePreparations {
  readonly #options: ExposurePreparationsOptions;

  constructor(options: ExposurePreparationsOptions) {
    this.#options = options;
  }

  /**
   * Prepares the objects of the provider. Undefined if the Exposure is being deleted. For a tenant in use, an error of the
   * management cluster is returned as `fault`, so that the tenant is reconciled first. @throws StepFailed
   */
  async prepare(
    observation: Observation,
    plan: Plan,
    { inUse, staleSecrets }: { readonly inUse: boolean; readonly staleSecrets: StaleSecrets },
    signal: AbortSignal,
  ): Promise<ExposurePreparation | undefined> {
    try {
      return await this.#prepare(observation, plan, staleSecrets, signal);
    } catch (error) {
      if (!isKubeError(error)) throw error;
      if (!inUse || signal.aborted) throw new StepFailed('Prepared', error);
      return { plans: [], isPrepared: false, findings: [], fault: error };
    }
  }

  async #prepare(
    observation: Observation,
    plan: Plan,
    staleSecrets: StaleSecrets,
    signal: AbortSignal,
  ): Promise<ExposurePreparation | undefined> {
    const { management, preparer, versions } = this.#options;
    const { object, reading } = observation;
    const { provided } = reading;
    const input = preparationInput(observation, plan, management);
    if (provided === undefined || input === undefined) return NOTHING_TO_PREPARE;
    if (input.policy !== 'Report') {
      const deps = { management, versions };
      if (!(await addExposureFinalizer(deps, object, PREPARATION_FINALIZER, signal)))
        return undefined;
    }
    const wrote: ExposureVersions['wrote'] = (before, after) => versions.wrote(before, after);
    const outcome = await preparer.prepare({ ...input, wrote }, signal);
    // The provider reacts to the write within a moment: the next reconcile observes the result.
    const isWritten = outcome.plans.some(({ differing }) => differing.length > 0);
    if (!outcome.isPrepared || isWritten) return outcome;
    const published = publishedFindings(provided, input.spec, input.policy);
    const findings = [...outcome.findings, ...published];
    if (published.length === 0 || input.policy === 'Report') return { ...outcome, findings };
    const requeueAfterMs = await this.#renew(
      object,
      renewableSecrets(provided, input.spec),
      staleSecrets,
      signal,
    );
    return { ...outcome, findings, requeueAfterMs };
  }

  /** Makes the provider create again what it created too early; returns when to reconcile again. @throws KubeError */
  async #renew(
    object: KubeObject,
    secrets: readonly RenewableSecret[],
    staleSecrets: StaleSecrets,
    signal: AbortSignal,
  ): Promise<number | undefined> {
    const { renewals, events } = this.#options;
    const { deleted, requeueAfterMs } = await renewals.renew(staleSecrets, secrets, { signal });
    for (const key of deleted) {
      const note = `Secret ${keyText(key)} did not have the hosts of the edge and was deleted. Its provider creates it again.`;
      events.record(object, { type: 'Normal', action: 'Prepare', reason: 'SecretRenewed', note });
    }
    return requeueAfterMs;
  }
}
