import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { architecture } from './cache.ts';
import { edgeParts, type PypiPart } from './catalog.ts';
import { missingForPypi, verifiedWheel } from './pypi.ts';

const WHEEL = 'tool-1.0-py3-none-any.whl';

function part(digests: PypiPart['digests']): PypiPart {
  const programs = { tool: 'tool/bin/tool' };
  return { kind: 'pypi', name: 'tool', version: '1.0', package: 'tool', digests, programs };
}

describe('a wheel', () => {
  let folder: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'snicket-pypi-'));
  });

  afterEach(() => rmSync(folder, { recursive: true }));

  test('is accepted if it has the pinned digest', () => {
    writeFileSync(join(folder, WHEEL), 'content');
    const digest = createHash('sha256').update('content').digest('hex');

    expect(verifiedWheel(part({ [architecture]: digest }), folder)).toBe(join(folder, WHEEL));
  });

  test('is rejected if it has another digest, with both digests in the message', () => {
    writeFileSync(join(folder, WHEEL), 'content');

    expect(() => verifiedWheel(part({ [architecture]: 'feed' }), folder)).toThrow(
      /^tool-1\.0-py3-none-any\.whl has the SHA-256 [0-9a-f]{64}, and feed is pinned/,
    );
  });

  test('must be the only file', () => {
    expect(() => verifiedWheel(part({}), folder)).toThrow(
      'downloaded nothing instead of one wheel',
    );
  });
});

test('the error names the architectures with a wheel', async () => {
  expect(await missingForPypi(part({ riscv: 'feed' }))).toEqual([
    `tool 1.0 is available for riscv only, and this machine is ${architecture}`,
  ]);
});

test('every Python package is pinned by its full digest', () => {
  for (const digest of Object.values(edgeParts.envoy.digests))
    expect(digest).toMatch(/^[0-9a-f]{64}$/);
});

test('the error without Python says what to install', async () => {
  const script = `import { missingForPypi } from ${JSON.stringify(join(import.meta.dir, 'pypi.ts'))};
    console.log(await missingForPypi(${JSON.stringify(part({ [architecture]: 'feed' }))}));`;
  const child = Bun.spawn([process.execPath, '-e', script], { env: { PATH: '/nowhere' } });

  expect(await new Response(child.stdout).text()).toContain('install python3 and python3-pip');
});
