/**
 * Which modes of the workers' proxies go with which driver.
 */
import type { Finding } from './finding.ts';
import type { Driver } from './edge.ts';
import type { WorkerMode } from './worker.ts';

/** The mode that a worker is in: the one that is asked for, or what suits the driver. */
export function modeOf(driver: Driver, asked: WorkerMode | undefined): WorkerMode {
  return asked ?? (driver === 'snicket' ? 'passthrough' : 'terminate');
}

/** What is wrong with a mode behind an Edge with this driver. The API server cannot see it: the Edge is another object. */
export function modeFault(driver: Driver, mode: WorkerMode): Finding | undefined {
  if (mode !== 'passthrough' || driver === 'snicket') return undefined;
  return {
    code: 'ModeNotSupported',
    severity: 'error',
    message: `spec.worker.mode is passthrough, and the Edge has driver ${driver}, which does not read the header that names the tenant`,
    action: 'write mode terminate, or leave it out, or choose an Edge with driver snicket',
  };
}
