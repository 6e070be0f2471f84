import { expect, test } from 'bun:test';
import type { KubeObject } from '../../kube/object.ts';
import { changed, newTenantControlPlane, k0smotronCluster } from '../testing/provider-objects.ts';
import { shimFor } from './shim.ts';

/** A text that must not reach a terminal or an event: escape codes, bidirectional controls, and unlimited length. */
const HOSTILE = `x\u001b[2J\u009b31m\u202e\r\n${'y'.repeat(5_000)}`;
const EDGE = { 'metadata.annotations': { 'snicket.dev/edge': 'shared' } };
const INGRESS = 'spec.controlPlane.ingress';

const OBJECTS: readonly (readonly [string, KubeObject])[] = [
  [
    'the class and host of an Ingress',
    changed(newTenantControlPlane('kamaji', 'blue'), {
      ...EDGE,
      [INGRESS]: { hostname: HOSTILE, ingressClassName: HOSTILE },
    }),
  ],
  [
    "Steward's proxy",
    changed(newTenantControlPlane('steward', 'blue'), {
      ...EDGE,
      'spec.addons.tcpProxy': {
        image: HOSTILE,
        hostAliases: [{ [HOSTILE]: HOSTILE }],
        resources: { requests: { [HOSTILE]: HOSTILE } },
      },
    }),
  ],
  [
    "k0smotron's ingress",
    changed(k0smotronCluster('blue'), {
      ...EDGE,
      'spec.ingress': { apiHost: HOSTILE, className: HOSTILE, annotations: { [HOSTILE]: 'a' } },
    }),
  ],
  [
    'the annotation',
    changed(newTenantControlPlane('kamaji', 'blue'), {
      'metadata.annotations': {
        'snicket.dev/edge': HOSTILE,
        'kamaji.clastix.io/ingress.domain': HOSTILE,
      },
    }),
  ],
];

test.each(OBJECTS)('a hostile text in %s gives findings of one short line', (_, object) => {
  const findings = shimFor(object, { ingressNames: new Set(), edgePort: 443 })?.findings ?? [];

  expect(findings.length).toBeGreaterThan(0);
  for (const { message, action } of findings) {
    expect(`${message}; ${action}`).not.toMatch(/[\p{Cc}\p{Bidi_Control}]/u);
    expect(message.length).toBeLessThan(1_000);
  }
});
