/**
 * The events about what a cleanup leaves behind.
 */
import type { EventNote } from '../../kube/events/event-object.ts';

/** An event with this reason and note. */
export function cleanupWarning(reason: string, note: string): EventNote {
  return { type: 'Warning', action: 'CleanUp', reason, note };
}
