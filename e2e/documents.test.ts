/** The commands and examples in the documents work on real Kubernetes. */
import { describe, expect, test } from 'bun:test';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parsePage, type CodeBlock } from '../scripts/docs/pages.ts';
import { run } from '../world/machine/command.ts';
import { silentProgress } from '../world/parts/progress.ts';
import { repository } from '../world/repository.ts';
import { snicketImage } from './snicket-image.ts';

function blocksOf(path: string): readonly CodeBlock[] {
  return parsePage(path, readFileSync(join(repository, path), 'utf8')).blocks;
}

describe('docs/world.md', () => {
  const blocks = blocksOf('docs/world.md');

  test('its example of a test runs', async () => {
    const example = blocks.find(({ language }) => language === 'ts')?.text;
    // Beside e2e/, so that the example's relative imports resolve.
    const script = join(repository, 'build', 'example.ts');
    mkdirSync(join(script, '..'), { recursive: true });
    writeFileSync(script, `${example}\nconsole.log('done');\n`);

    const { stdout } = await run([process.execPath, script], { timeoutMs: 300_000 });

    expect(stdout).toBe('done\n');
  });

  test('its commands install Snicket in a world', async () => {
    const first = blocks.findIndex(({ text }) => text.startsWith('make image\n'));
    const scripts = blocks.slice(first).filter(({ language }) => language === 'sh');
    const up = await run([join(repository, 'world', 'world'), 'up', '--tenants=a', '--keep'], {
      timeoutMs: 300_000,
    });
    const [, id = ''] = /^World (\w+) is up/m.exec(up.stdout) ?? [];
    try {
      const archive = await snicketImage(silentProgress);
      const commands = scripts
        .map(({ text }) => `${text}\n`)
        .join('')
        .replaceAll(/^make .*\n/gm, '') // the test has run these already
        .replaceAll('dist/snicket-image.tar', archive)
        // Waits instead of watching as a user would.
        .replace(
          /get exposures --all-namespaces --watch.*/,
          'wait --namespace tenant-a --for=condition=Ready --timeout=100s exposure/a',
        )
        .replaceAll(/world\/world (kubectl|exec|image load|dns set)/g, `$& --world=${id}`)
        .replaceAll('world/world', join(repository, 'world', 'world'))
        .replaceAll('-k deploy', `-k ${join(repository, 'deploy')}`)
        .replaceAll('a.yaml', join(repository, 'build', 'a.yaml'));

      const { stdout } = await run(['sh', '-euc', commands], { timeoutMs: 300_000 });

      expect(stdout).toContain('"gitVersion": "v1.36');
    } finally {
      await run([join(repository, 'world', 'world'), 'down', id]);
    }
  });
});
