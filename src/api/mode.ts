/**
 * The worker modes that each driver supports.
 */
import type { Finding } from './finding.ts';
import type { Driver } from './edge.ts';
import { WORKER_MODES, type WorkerMode } from './worker.ts';

/** A worker mode as a value of the flag `--mode`. */
export type ModeFlag = Lowercase<WorkerMode>;

/** The values of the flag `--mode`. */
export const MODE_FLAGS = WORKER_MODES.map(modeFlag);

/** Returns the flag value of a mode. */
export function modeFlag(mode: WorkerMode): ModeFlag {
  return mode === 'Passthrough' ? 'passthrough' : 'terminate';
}

/** Returns the mode of a flag value. */
export function modeOfFlag(flag: ModeFlag): WorkerMode {
  return flag === 'passthrough' ? 'Passthrough' : 'Terminate';
}

/** Returns the mode of the workers: the mode in the spec, or the default of the driver. */
export function modeOf(driver: Driver, requested: WorkerMode | undefined): WorkerMode {
  return requested ?? (driver === 'snicket' ? 'Passthrough' : 'Terminate');
}

/** Returns a finding if the driver does not support the mode. CEL cannot validate this: the Edge is another object. */
export function modeFinding(driver: Driver, mode: WorkerMode): Finding | undefined {
  if (mode !== 'Passthrough' || driver === 'snicket') return undefined;
  return {
    code: 'OptionNotSupported',
    severity: 'error',
    message: `Mode Passthrough requires driver snicket, but the Edge has driver ${driver}, which does not read the header that identifies the tenant.`,
    action: 'Set spec.worker.mode to Terminate, remove it, or choose an Edge with driver snicket.',
  };
}
