/**
 * The reasons of conditions and events that are no codes of findings or hops.
 */
import type { FindingEntry } from './entry.ts';

/** The documentation of a reason. */
export interface ReasonEntry extends FindingEntry {
  /** `Normal`: an expected state or change. `Warning`: a problem that may need an action. */
  readonly severity: 'Normal' | 'Warning';
}

/** Reasons of the conditions of Edges and Exposures. */
export const CONDITION_REASONS = {
  Ready: {
    severity: 'Normal',
    meaning:
      'All conditions of an Exposure that Ready depends on are True, or an Edge has an address.',
    action: 'No action is needed.',
  },
  Accepted: {
    severity: 'Normal',
    meaning: 'The spec can be fulfilled: the Edge exists, and the hosts are free.',
    action: 'No action is needed.',
  },
  Prepared: {
    severity: 'Normal',
    meaning: 'The control plane exists, with its Service, CA and kubeconfig.',
    action: 'No action is needed.',
  },
  RolloutPending: {
    severity: 'Normal',
    meaning:
      'A new template of the proxies waits for the rollouts of other tenants, or for the operator to observe every tenant.',
    action: 'Wait. The proxies serve with the previous template.',
  },
  RolloutPaused: {
    severity: 'Warning',
    meaning: 'A new template of the proxies waits because the rollout of another tenant failed.',
    action:
      'Fix the tenant that the message names, or wait: a failed rollout pauses the others for an hour.',
  },
  KonnectivityReady: {
    severity: 'Normal',
    meaning:
      "The konnectivity host points to the tenant's konnectivity-server, and an agent is connected to it.",
    action: 'No action is needed.',
  },
  Reachable: {
    severity: 'Normal',
    meaning: 'Clients reach the API: every hop passes.',
    action: 'No action is needed.',
  },
  NotProbed: {
    severity: 'Normal',
    meaning: 'The path of clients has not been probed yet.',
    action: 'Wait a moment.',
  },
  NotRunning: {
    severity: 'Warning',
    meaning: 'The state is the last one that snicket run wrote, because it is not running.',
    action: 'Start snicket run with the same folder and state.',
  },
  CleaningUp: {
    severity: 'Normal',
    meaning:
      'The Exposure is being deleted, and Snicket removes what it wrote to the tenant and to the control plane.',
    action: 'Wait. The message says what the cleanup waits for, and for how long.',
  },
} as const satisfies Record<string, ReasonEntry>;

/** Reasons of events that are no reasons of conditions. */
export const EVENT_REASONS = {
  ExposureReturns: {
    severity: 'Warning',
    meaning:
      'A deleted Exposure is created again, because its control plane has an annotation that requests it.',
    action: 'To delete the Exposure, remove the annotation.',
  },
  SecretRenewed: {
    severity: 'Normal',
    meaning:
      'Snicket deleted a Secret that did not have the hosts of the edge, and its provider creates it again.',
    action: 'No action is needed.',
  },
  EdgeRemoved: {
    severity: 'Warning',
    meaning:
      'The Exposure was deleted, and workers or kubeconfigs of the control plane still use its host.',
    action: 'Follow the message for the workers and the kubeconfigs that it names.',
  },
  CleanupIncomplete: {
    severity: 'Warning',
    meaning:
      'The Exposure was deleted, but something that Snicket wrote stays: fields of the control plane, objects in a tenant that did not answer in time or belongs to another owner, or the virtual address of a node.',
    action:
      'Correct or delete what the message names, if nothing else needs it. The log of the operator has the previous values of fields.',
  },
} as const satisfies Record<string, ReasonEntry>;

/** All these reasons by their objects, in the order of the reference documentation. */
export const REASON_GROUPS = [
  ['Conditions', CONDITION_REASONS],
  ['Events', EVENT_REASONS],
] as const satisfies readonly (readonly [string, Readonly<Record<string, ReasonEntry>>])[];
