/**
 * The objects of providers, prepared for Exposures.
 */
import type { EventRecorder } from '../../kube/events/events.ts';
import { isKubeError, type KubeError } from '../../kube/kube-error.ts';
import { keyText, type KubeObject } from '../../kube/object.ts';
import type { ProvidedFacts } from '../../providers/reading/control-plane-reading.ts';
import type { PreparationWish } from '../../providers/preparation/preparation.ts';
import { publishedFindings } from '../../providers/reading/published-server.ts';
import { renewableSecrets } from '../../providers/reading/renewable-secrets.ts';
import type { Observation } from '../observe.ts';
import type { ManagementCluster } from '../../operator/management/management-cluster.ts';
import { StepFailed } from '../management-fault.ts';
import { preparationFor } from './exposure-preparation.ts';
import type { PreparationOutcome, Preparer } from './preparer.ts';
import type { SecretRenewals } from './secret-renewals.ts';
import type { ExposureReports } from '../../operator/exposure/exposure-reports.ts';
import { previousHosts } from '../routes/route-changes.ts';
import { holdExposure, PREPARATION_FINALIZER } from '../finalizers.ts';

/** What became of a preparation; with a fault, nobody knows. */
export interface ExposurePreparation extends PreparationOutcome {
  readonly fault?: KubeError;
}

/** Of a control plane that is no provider's, or that nothing can be prepared for yet. */
export const NOTHING_TO_PREPARE: ExposurePreparation = { isPrepared: true, findings: [] };

/** What {@link ExposurePreparations} works with. */
export interface ExposurePreparationsOptions {
  readonly management: ManagementCluster;
  readonly preparer: Preparer;
  readonly renewals: SecretRenewals;
  readonly events: EventRecorder;
  readonly reports: ExposureReports;
}

/** Prepares control planes for their Exposures. */
export class ExposurePreparations {
  readonly #options: ExposurePreparationsOptions;

  constructor(options: ExposurePreparationsOptions) {
    this.#options = options;
  }

  /**
   * The objects of its provider, as they must be; undefined if it is too late to begin. A fault of the management cluster is
   * told later for a tenant in use, which has to be attended to first. @throws StepFailed
   */
  async prepare(
    object: KubeObject,
    look: Observation,
    inUse: boolean,
    signal: AbortSignal,
  ): Promise<ExposurePreparation | undefined> {
    try {
      return await this.#prepare(object, look, signal);
    } catch (error) {
      if (!isKubeError(error)) throw error;
      if (!inUse || signal.aborted) throw new StepFailed('Prepared', error);
      return { isPrepared: false, findings: [], fault: error };
    }
  }

  async #prepare(
    object: KubeObject,
    { wish, reading, plan }: Observation,
    signal: AbortSignal,
  ): Promise<ExposurePreparation | undefined> {
    const { management, preparer, reports } = this.#options;
    const { provided } = reading;
    if (provided === undefined || plan.hosts === undefined) return NOTHING_TO_PREPARE;
    const seen = management.exposures.get(object.metadata) ?? object;
    const input = preparationFor(seen, wish, plan.hosts, provided, {
      management,
      previousHosts: previousHosts(management, object, plan.hosts),
    });
    if (input.policy !== 'Report') {
      const means = { management, reports };
      if (!(await holdExposure(means, object, PREPARATION_FINALIZER, signal))) return undefined;
    }
    const wrote = reports.wrote.bind(reports);
    const outcome = await preparer.prepare({ ...input, wrote }, signal);
    if (!outcome.isPrepared) return outcome;
    const published = publishedFindings(provided, input.wish, input.policy);
    const findings = [...outcome.findings, ...published];
    if (published.length === 0 || input.policy === 'Report') return { ...outcome, findings };
    const requeueAfterMs = await this.#renew(object, provided, input.wish, signal);
    return { ...outcome, findings, requeueAfterMs };
  }

  /** Has the provider make anew what it made too early; when to look again. @throws KubeError */
  async #renew(
    object: KubeObject,
    provided: ProvidedFacts,
    wish: PreparationWish,
    signal: AbortSignal,
  ): Promise<number | undefined> {
    const { renewals, events } = this.#options;
    const stale = renewableSecrets(provided, wish);
    const { deleted, requeueAfterMs } = await renewals.renew(keyText(object.metadata), stale, {
      signal,
    });
    for (const key of deleted) {
      const note = `deleted Secret ${keyText(key)}, which did not have the hosts of the edge: its provider makes it anew`;
      events.record(object, { type: 'Normal', action: 'Prepare', reason: 'SecretRenewed', note });
    }
    return requeueAfterMs;
  }
}
