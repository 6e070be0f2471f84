/**
 * The state of each Exposure that the operator keeps between two reconciles.
 */
import type { Dependency } from '../../management/dependency-index.ts';
import type { Plan } from '../../plan/plan.ts';
import type { CleanupState } from '../../reconcile/clean-up/clean-up-exposure.ts';
import { CleanupDeadline } from '../../reconcile/clean-up/cleanup-deadline.ts';
import type { Observation } from '../../reconcile/observe.ts';
import { PollBackoff } from '../../reconcile/poll-backoff.ts';
import type { StaleSecrets } from '../../reconcile/preparation/secret-renewals.ts';
import type { ExposureTracker } from '../../reconcile/reconcile-exposure.ts';
import type { ProbedPath } from '../../reconcile/report.ts';
import type { ExposureControllerDeps } from './exposure-controller.ts';
import type { ReportState } from './exposure-reports.ts';
import { ResyncPeriod } from './resync-period.ts';

/**
 * The state of one Exposure. {@link rest} drops the state that the current phase does not use, {@link end} all of it.
 */
export class ExposureState implements CleanupState, ExposureTracker, ReportState {
  readonly uid: string | undefined;
  /** The number of consecutive reconciles that failed because of the management cluster. */
  failures = 0;
  isReported = false;
  unobservedSinceMs: number | undefined;
  readonly deadline: CleanupDeadline;
  readonly polls: PollBackoff;
  readonly resync: ResyncPeriod;
  readonly staleSecrets: StaleSecrets = new Map();
  readonly #key: string;
  readonly #deps: ExposureControllerDeps;

  constructor(key: string, uid: string | undefined, deps: ExposureControllerDeps) {
    this.uid = uid;
    this.deadline = new CleanupDeadline(deps.cleanupTimeoutMs, deps.clock);
    this.polls = new PollBackoff(deps.clock);
    this.resync = new ResyncPeriod(deps.resyncLimits, deps.clock);
    this.#key = key;
    this.#deps = deps;
  }

  dependsOn(dependency: Dependency): void {
    this.#deps.dependencies.add(this.#key, dependency);
  }

  observed({ secrets, dependencies }: Observation): void {
    this.#deps.secrets.follow(this.#key, secrets);
    this.#deps.dependencies.set(this.#key, dependencies);
  }

  routed(observation: Observation, plan: Plan): void {
    this.#deps.probes.setTarget(this.#key, observation, plan);
  }

  probedPath(observation: Observation, plan: Plan): ProbedPath {
    return this.#deps.probes.pathOf(this.#key, observation, plan);
  }

  /**
   * Drops the state that an Exposure does not use in a phase. In all of these phases, its path is not probed.
   *
   * - `Refused`: its control plane is not observed either.
   * - `Terminating`: its tenant takes part in no rollout. Its control plane is released before the cleanup removes the record,
   *   so that Exposures that wait for it are reconciled once the watch reports that.
   * - `CleanedUp`: the watch has yet to deliver the deletion. Only the statuses stay: by them, a reconcile before that finds the
   *   finalizers gone.
   */
  rest(phase: 'Refused' | 'Terminating' | 'CleanedUp'): void {
    const { dependencies, links, ownership, pacer, preparer, probes, secrets } = this.#deps;
    const unused = {
      Refused: [dependencies, secrets],
      Terminating: [pacer, preparer],
      CleanedUp: [dependencies, links, ownership, pacer, preparer, probes, secrets],
    };
    probes.stop(this.#key);
    for (const part of unused[phase]) part.forget(this.#key);
  }

  /** Drops all state, because the Exposure no longer exists. */
  end(): void {
    this.rest('CleanedUp');
    this.#deps.statuses.forget(this.#key);
  }
}
