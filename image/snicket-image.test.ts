import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { lstatSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import manifest from '../package.json' with { type: 'json' };
import { ociImage, type OciImage } from './oci.ts';
import { IMAGE_NAME, snicketImage } from './snicket-image.ts';
import { sharedLibraries } from './shared-libraries.ts';
import { readLayout, type Layout } from './testing/layout.ts';

/**
 * A small replacement for Snicket that is also linked to the system's libraries. gzip takes seconds for the real size.
 */
const EXAMPLE_PROGRAM = Bun.which('tar') ?? 'tar';

describe.skipIf(process.platform !== 'linux')('the image of Snicket', () => {
  let folder: string;
  let image: OciImage;
  let layout: Layout;

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'snicket-image-'));
    image = ociImage(snicketImage(EXAMPLE_PROGRAM, IMAGE_NAME));
    layout = readLayout(image.archive, folder);
  }, 240_000);

  afterAll(() => rmSync(folder, { recursive: true }));

  test('has the version in its name, and runs snicket as an unprivileged user', () => {
    expect(layout.index.manifests[0]!['annotations']).toMatchObject({
      'io.containerd.image.name': `snicket.dev/snicket:${manifest.version}`,
    });
    expect(layout.config.config).toMatchObject({
      User: '65532:65532',
      Entrypoint: ['/snicket'],
      Env: ['PATH=/'],
      Labels: { 'org.opencontainers.image.version': manifest.version },
    });
  });

  test('has a separate layer for the executable', () => {
    const layer = layout.layers[1]!;

    expect(readdirSync(layer)).toEqual(['snicket']);
    expect(lstatSync(join(layer, 'snicket')).mode & 0o7777).toBe(0o755);
    expect(readFileSync(join(layer, 'snicket')).equals(readFileSync(EXAMPLE_PROGRAM))).toBe(true);
  });

  test('contains only the executable, its libraries and the users', () => {
    const layer = layout.layers[0]!;

    const files = readdirSync(layer, { recursive: true, withFileTypes: true })
      .filter((entry) => !entry.isDirectory())
      .map((entry) => join(entry.parentPath, entry.name).slice(layer.length));

    const etc = ['/etc/group', '/etc/nsswitch.conf', '/etc/passwd'];
    expect(files.toSorted()).toEqual([...etc, ...sharedLibraries(EXAMPLE_PROGRAM)].toSorted());
    expect(readFileSync(join(layer, 'etc/passwd'), 'utf8')).toContain('\nsnicket:x:65532:65532:');
    expect(lstatSync(join(layer, 'tmp')).mode & 0o7777).toBe(0o1777);
  });

  test('is half as large as its content', () => {
    const size = lstatSync(EXAMPLE_PROGRAM).size;

    expect(image.layers[1]!.size).toBeLessThan(0.6 * size);
  });

  test('has the same digest when it is built again', () => {
    const again = ociImage(snicketImage(EXAMPLE_PROGRAM, IMAGE_NAME));

    expect(again.digest).toBe(image.digest);
    expect(again.archive.equals(image.archive)).toBe(true);
  }, 240_000);
});
