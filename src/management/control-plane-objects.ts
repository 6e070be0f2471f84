/**
 * The objects of a control plane, as providers read them.
 */
import type { ControlPlaneObjects } from '../providers/reading/control-plane-reading.ts';
import type { ManagementView } from './management-view.ts';

/** Returns a reader for the objects that providers may read. */
export function controlPlaneObjects(
  management: ManagementView,
  signal: AbortSignal,
): ControlPlaneObjects {
  return {
    service: (at) => management.service(at),
    secret: async (at) => management.secret(at, signal),
    object: async (resource, at) => management.object(resource, at, signal),
  };
}
