/**
 * What commands show about one Exposure, from a dry run or from files.
 */
import type { DeploymentValues } from '../../management/chart-values.ts';
import type { PreparationPlan } from '../../providers/preparation/plan-preparation.ts';
import type { DryRun } from '../../reconcile/dry-run.ts';

/** An Exposure with its plan and findings. */
export interface ExposurePlan extends Pick<
  DryRun,
  'object' | 'resolved' | 'plan' | 'findings' | 'reissued'
> {
  /** The changes to the objects of its provider; absent without one. */
  readonly preparation?:
    | {
        readonly plans: readonly PreparationPlan[];
        /** Whether the objects have all required fields after the reconcile. */
        readonly isPrepared: boolean;
      }
    | undefined;
  /** The values of its chart; absent for a control plane that belongs to no ClusterDeployment of k0rdent. */
  readonly chart?: DeploymentValues | undefined;
}
