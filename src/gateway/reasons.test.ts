import { expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ENGINE_REASONS } from '../engine/reasons.ts';
import { ROUTE_REASONS, UNROUTED_REASONS } from './reasons.ts';

test('docs/reference/gateway-metrics.md lists exactly the reasons of the gateway with their meanings', () => {
  const docs = readFileSync(
    join(import.meta.dir, '../../docs/reference/gateway-metrics.md'),
    'utf8',
  );
  const rows = docs.matchAll(/^\| `(\w+)` \| (.+) \| (?:no|if many|yes) \|$/gm);

  const documented = [...rows].map(([, code, meaning]) => [code, meaning]);

  const reasons = { ...ENGINE_REASONS, ...ROUTE_REASONS, ...UNROUTED_REASONS };
  expect(documented).toEqual(Object.entries(reasons));
});
