import { describe, expect, test } from 'bun:test';
import type { KubeObject } from '../kube/object.ts';
import { defaultEdge, defaultEdgeFinding } from './default-edge.ts';

function edge(name: string, isDefault?: string, creationTimestamp = '2026-02-01'): KubeObject {
  const annotations: Record<string, string> =
    isDefault === undefined ? {} : { 'snicket.dev/is-default': isDefault };
  return {
    apiVersion: 'snicket.dev/v1alpha1',
    kind: 'Edge',
    metadata: { name, annotations, creationTimestamp },
  };
}

const SHARED = edge('shared', 'true');
const SECOND = edge('second', 'true', '2026-01-01');
const THIRD = edge('third', 'true', '2026-03-01');
const OTHER = edge('other', 'false');

describe('the default Edge', () => {
  test('is the oldest annotated one, for an Exposure that uses none yet', () => {
    expect(defaultEdge([OTHER, SHARED, SECOND], undefined)).toBe(SECOND);
    expect(defaultEdge([OTHER, SHARED, SECOND], 'other')).toBe(SECOND);
    expect(defaultEdge([OTHER], undefined)).toBeUndefined();
  });

  test('is the annotated one that the Exposure uses already', () => {
    expect(defaultEdge([SHARED, SECOND], 'shared')).toBe(SHARED);
  });
});

describe('annotations', () => {
  test('are valid on one Edge, or on none', () => {
    for (const edges of [[SHARED, OTHER], [OTHER]]) {
      for (const annotated of edges) expect(defaultEdgeFinding(annotated, edges)).toBeUndefined();
    }
  });

  test('on two Edges are reported on both, with the Edge in use', () => {
    const edges = [SHARED, OTHER, SECOND];

    expect(defaultEdgeFinding(OTHER, edges)).toBeUndefined();
    expect(defaultEdgeFinding(SHARED, edges)).toEqual(defaultEdgeFinding(SECOND, edges));
    expect(defaultEdgeFinding(SHARED, edges)).toEqual({
      code: 'DefaultEdgeInvalid',
      severity: 'warning',
      message:
        'Edges second and shared are both annotated as default. New Exposures use second, the older one.',
      action: 'Remove the annotation snicket.dev/is-default from one of them.',
    });
    expect(defaultEdgeFinding(THIRD, [...edges, THIRD])?.message).toContain(
      'Edges second, shared and third are all annotated as default.',
    );
  });

  test('with an invalid value are quoted', () => {
    const unclear = edge('shared', 'True');

    expect(defaultEdgeFinding(unclear, [unclear])?.message).toBe(
      'Edge shared has the annotation snicket.dev/is-default: "True", which is neither "true" nor "false", so it is not a default Edge.',
    );
  });
});
