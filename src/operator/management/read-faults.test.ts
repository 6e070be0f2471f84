import { describe, expect, test } from 'bun:test';
import { KubeError, type KubeErrorReason } from '../../kube/kube-error.ts';
import { RESOURCES, type Resource } from '../../kube/resource.ts';
import { readFault, type WatchedKind } from './read-faults.ts';

function kind(resource: Resource, state: Partial<WatchedKind['state']> = {}): WatchedKind {
  const well = { hasSynced: true, staleSinceMs: undefined, lastError: undefined };
  return { resource, state: { ...well, ...state } };
}

function failed(reason: KubeErrorReason): KubeError {
  return new KubeError(reason, `list services: ${reason}`);
}

describe('a management cluster', () => {
  test('whose kinds are all read has no fault', () => {
    expect(readFault([kind(RESOURCES.exposure), kind(RESOURCES.edge)], 0)).toBeUndefined();
  });

  test('that is being read is reported', () => {
    const kinds = [kind(RESOURCES.exposure), kind(RESOURCES.edge, { hasSynced: false })];

    expect(readFault(kinds, 0)).toBe('edges are not read yet');
  });

  test('without the CRDs is reported with the command', () => {
    const state = { hasSynced: false, lastError: failed('NotFound') };

    const said = readFault([kind(RESOURCES.exposure, state)], 0);

    expect(said).toBe('the CRD of Exposure is not installed; run kubectl apply -k deploy');
  });

  test('that forbids a read is reported with the missing permission', () => {
    const state = { hasSynced: false, lastError: failed('Forbidden') };
    const kinds = [kind(RESOURCES.edge, { hasSynced: false }), kind(RESOURCES.service, state)];

    expect(readFault(kinds, 0)).toBe(
      "services cannot be read: list services: Forbidden; give Snicket's ClusterRole the verbs get, list and watch on services",
    );
  });

  test('that does not answer is reported after a while', () => {
    const state = { staleSinceMs: 1_000, lastError: failed('Unreachable') };
    const kinds = [kind(RESOURCES.service, state)];

    expect(readFault(kinds, 20_000)).toBeUndefined();
    expect(readFault(kinds, 31_000)).toBe('services cannot be read: list services: Unreachable');
  });
});
