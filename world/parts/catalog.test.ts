import { describe, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { moduleFolder } from './cache.ts';
import { baseParts, edgeParts, partsByImportance, providerParts, type Part } from './catalog.ts';

const allParts: readonly Part[] = [baseParts, edgeParts, providerParts].flatMap((parts) =>
  Object.values<Part>(parts),
);
const goParts = allParts.filter((part) => part.kind === 'go');

describe.each(goParts.map((part) => [part.name, part] as const))('the part %s', (_, part) => {
  const module = readFileSync(join(moduleFolder(part), 'go.mod'), 'utf8');
  const tools = readFileSync(join(moduleFolder(part), 'tools.go'), 'utf8');

  test('imports every program in its module, so that go.sum covers their sources', () => {
    const imported = [...tools.matchAll(/_ "(.+)"/g)].map(([, path]) => path!);

    expect(imported.toSorted()).toEqual(Object.values(part.programs).toSorted());
  });

  test('has the same version in its module', () => {
    const required = [...module.matchAll(/^(?:require)?\s+(\S+) (v\S+)/gm)];
    const versions = Object.values(part.programs).map(
      (path) => required.find(([, name]) => path === name || path.startsWith(`${name}/`))?.[2],
    );

    expect(new Set(versions)).toEqual(new Set([part.version]));
  });
});

test('Kubernetes reports its version', () => {
  const { version, linkerFlags } = baseParts.kubernetes;
  const [, major, minor] = /^v(\d+)\.(\d+)/.exec(version)!;

  expect(linkerFlags).toContain(`gitVersion=${version} `);
  expect(linkerFlags).toContain(`gitMajor=${major} `);
  expect(linkerFlags).toEndWith(`gitMinor=${minor}`);
});

test('partsByImportance has every part once', () => {
  expect(new Set(partsByImportance)).toEqual(new Set(allParts));
  expect(partsByImportance).toHaveLength(allParts.length);
});
