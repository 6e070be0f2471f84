/**
 * Says of Exposures what the management cluster keeps from being done. A status of before would be untrue, and an empty
 * one says nothing.
 */
import { findingText } from '../../api/finding.ts';
import { isKubeError, type KubeError } from '../../kube/kube-error.ts';
import { keyText, type KubeObject } from '../../kube/object.ts';
import { OutdatedError } from '../../kube/outdated-error.ts';
import { isWorthTelling, managementFault, StepFailed } from '../../reconcile/management-fault.ts';
import type { ExposureReports } from './exposure-reports.ts';
import { faultStates } from '../../reconcile/conditions/management-conditions.ts';
import { fails, type PartialCondition } from '../../reconcile/conditions/condition-state.ts';

/** The faults of all Exposures. */
export class FaultReports {
  readonly #reports: ExposureReports;
  /** By key: how often in a row it has failed. */
  readonly #failures = new Map<string, number>();

  constructor(reports: ExposureReports) {
    this.#reports = reports;
  }

  /** Works for an Exposure, and tells what keeps that from being done. @throws what it throws, the cause of a StepFailed */
  async telling<T>(object: KubeObject, work: () => Promise<T>, signal: AbortSignal): Promise<T> {
    try {
      const result = await work();
      this.forget(keyText(object.metadata));
      return result;
    } catch (error) {
      const cause: unknown = error instanceof StepFailed ? error.cause : error;
      // Not a fault: the next reconcile decides from the current version.
      if (cause instanceof OutdatedError) throw cause;
      if (!signal.aborted && isKubeError(cause) && this.#isWorthTelling(object, cause)) {
        const condition =
          error instanceof StepFailed ? (error.step as PartialCondition) : undefined;
        await this.#tell(object, cause, condition, signal).catch((untold: unknown) => {
          // The cause is what has to be known, and it is told the next time.
          if (!isKubeError(untold)) throw untold;
        });
      }
      throw cause;
    }
  }

  forget(key: string): void {
    this.#failures.delete(key);
  }

  #isWorthTelling({ metadata }: KubeObject, error: KubeError): boolean {
    const key = keyText(metadata);
    const times = (this.#failures.get(key) ?? 0) + 1;
    this.#failures.set(key, times);
    return isWorthTelling(error, times);
  }

  async #tell(
    object: KubeObject,
    cause: KubeError,
    condition: PartialCondition | undefined,
    signal: AbortSignal,
  ): Promise<void> {
    const finding = managementFault(cause);
    const { generation = 0, deletionTimestamp } = object.metadata;
    if (deletionTimestamp !== undefined) {
      await this.#reports.reportLeaving(object, findingText(finding), signal);
    } else if (condition !== undefined) {
      const before = this.#reports.statusOf(object);
      const conditions = faultStates(before, generation, condition, fails(finding));
      await this.#reports.report(object, { isRouted: false, conditions }, signal);
    }
  }
}
