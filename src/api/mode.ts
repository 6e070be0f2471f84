/**
 * Which modes of the workers' proxies go with which driver.
 */
import type { Finding } from './finding.ts';
import type { Driver } from './edge.ts';
import { WORKER_MODES, type WorkerMode } from './worker.ts';

/** A mode as the command line of `snicket` has it: `--mode passthrough`. */
export type ModeFlag = Lowercase<WorkerMode>;

/** The modes as values of a flag. */
export const MODE_FLAGS = WORKER_MODES.map(modeFlag);

/** The value of the flag for this mode. */
export function modeFlag(mode: WorkerMode): ModeFlag {
  return mode === 'Passthrough' ? 'passthrough' : 'terminate';
}

/** The mode for the value of a flag. */
export function modeOfFlag(flag: ModeFlag): WorkerMode {
  return flag === 'passthrough' ? 'Passthrough' : 'Terminate';
}

/** The mode that a worker is in: the one that is asked for, or what suits the driver. */
export function modeOf(driver: Driver, asked: WorkerMode | undefined): WorkerMode {
  return asked ?? (driver === 'snicket' ? 'Passthrough' : 'Terminate');
}

/** What is wrong with a mode behind an Edge with this driver. The API server cannot see it: the Edge is another object. */
export function modeFault(driver: Driver, mode: WorkerMode): Finding | undefined {
  if (mode !== 'Passthrough' || driver === 'snicket') return undefined;
  return {
    code: 'ModeNotSupported',
    severity: 'error',
    message: `spec.worker.mode is Passthrough, and the Edge has driver ${driver}, which does not read the header that names the tenant`,
    action: 'write mode Terminate, or leave it out, or choose an Edge with driver snicket',
  };
}
