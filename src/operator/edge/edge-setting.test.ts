import { describe, expect, test } from 'bun:test';
import type { Edge } from '../../api/edge.ts';
import type { KubeObject } from '../../kube/object.ts';
import { dependsOnSetting } from './edge-setting.ts';

function edge(spec: Partial<Edge['spec']>): Edge {
  const metadata = { name: 'shared' };
  return {
    apiVersion: 'snicket.dev/v1alpha1',
    kind: 'Edge',
    metadata,
    spec: {
      driver: 'snicket',
      port: 443,
      allowedNamespaces: { from: 'All' },
      annotations: 'Allowed',
      ...spec,
    },
  };
}

function setting(kind: string, name: string, namespace?: string): KubeObject {
  return { apiVersion: 'x/v1', kind, metadata: { name, ...(namespace && { namespace }) } };
}

const CLASSES = [setting('IngressClass', 'haproxy'), setting('IngressClass', 'other')];
const GATEWAY_API = edge({
  driver: 'gateway-api',
  gatewayApi: { parentRefs: [{ namespace: 'edge', name: 'shared' }] },
});

describe('an IngressClass affects', () => {
  const [haproxy, other] = CLASSES as [KubeObject, KubeObject];

  test('the Edge that names it, and no other', () => {
    const named = edge({ driver: 'haproxy', ingress: { className: 'haproxy' } });

    expect(dependsOnSetting(named, haproxy, CLASSES)).toBe(true);
    expect(dependsOnSetting(named, other, CLASSES)).toBe(false);
  });

  test('an Edge that names no class, or a class that does not exist', () => {
    expect(dependsOnSetting(edge({ driver: 'nginx' }), other, CLASSES)).toBe(true);
    const missing = edge({ driver: 'nginx', ingress: { className: 'nginx' } });
    expect(dependsOnSetting(missing, other, CLASSES)).toBe(true);
  });

  test('no Edge whose driver does not use it', () => {
    expect(dependsOnSetting(edge({}), haproxy, CLASSES)).toBe(false);
    expect(dependsOnSetting(GATEWAY_API, haproxy, CLASSES)).toBe(false);
  });
});

describe('a Gateway affects', () => {
  test('the Edge that has it as a parent, and no other', () => {
    expect(dependsOnSetting(GATEWAY_API, setting('Gateway', 'shared', 'edge'), [])).toBe(true);
    expect(dependsOnSetting(GATEWAY_API, setting('Gateway', 'shared', 'other'), [])).toBe(false);
    expect(dependsOnSetting(edge({}), setting('Gateway', 'shared', 'edge'), [])).toBe(false);
  });

  test('by its class every Edge of the driver', () => {
    expect(dependsOnSetting(GATEWAY_API, setting('GatewayClass', 'any'), [])).toBe(true);
    expect(dependsOnSetting(edge({}), setting('GatewayClass', 'any'), [])).toBe(false);
  });
});
