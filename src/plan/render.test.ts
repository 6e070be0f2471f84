import { expect, test } from 'bun:test';
import { parseAllDocuments } from 'yaml';
import { planExposure } from './plan.ts';
import { renderObject, renderPlan } from './render.ts';
import { edge, exposure, facts } from './testing/inputs.ts';

const PLAN = planExposure({ exposure: exposure(), edge: edge() }, facts());

function documents(text: string): unknown[] {
  return parseAllDocuments(text, { version: '1.1' }).map((document) => document.toJS() as unknown);
}

test('is YAML with all objects, each with a comment of its cluster and name', () => {
  const text = renderPlan(PLAN, { showSecrets: true });

  expect(documents(text)).toEqual([...(PLAN.management ?? []), ...(PLAN.tenant ?? [])]);
  expect(text).toStartWith(
    '# management cluster: TenantRoute tenants/blue-4dba8126f5\napiVersion: ',
  );
  expect(text).toContain('---\n# tenant cluster: DaemonSet kube-system/snicket-proxy\n');
});

test('shows fingerprints instead of the values of a Secret', () => {
  const text = renderPlan(PLAN);

  expect(text).not.toContain(Buffer.from('key of the leaf\n').toString('base64'));
  expect(text).toMatch(/tls\.key: \(16 bytes, sha256 [0-9a-f]{16}\)/);
});

test('shows which cluster is unknown and which is empty', () => {
  expect(renderPlan({ management: [] })).toBe(
    '# management cluster: nothing\n---\n# tenant cluster: not known yet\n',
  );
});

test('writes strings so that kubectl parses them as strings', () => {
  const object = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'x' },
    data: { a: 'yes', b: 'on', c: '1_000', d: '0777', e: 'line\nline\n' },
  };

  const text = renderObject(object);

  expect(documents(text)).toEqual([object]);
});
