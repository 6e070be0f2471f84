import { describe, expect, test } from 'bun:test';
import { changed, k0smotronCluster } from '../testing/provider-objects.ts';
import { hasKonnectivity } from './control-plane.ts';

function withFlags(...flags: readonly unknown[]) {
  return changed(k0smotronCluster('red'), { 'spec.controlPlaneFlags': flags });
}

describe('konnectivity', () => {
  test.each([
    [['--disable-components=konnectivity-server']],
    [['--v=2', '--disable-components', 'autopilot,konnectivity-server']],
    [['--disable-components konnectivity-server']],
    [['--v=2  --disable-components  konnectivity-server --debug']],
    [['--disable-components="autopilot,konnectivity-server"']],
    [["'--disable-components=konnectivity-server'"]],
    [['--disable-components=autopilot', '--disable-components=konnectivity-server']],
  ])('is off with the flags %j', (flags) => {
    expect(hasKonnectivity(withFlags(...flags))).toBe(false);
  });

  test.each([
    [[]],
    [['--disable-components']],
    [['--disable-components=autopilot', 'konnectivity-server']],
    [['--enable-components=konnectivity-server', 7, null]],
  ])('is on with the flags %j', (flags) => {
    expect(hasKonnectivity(withFlags(...flags))).toBe(true);
  });

  test('is off with the field of an older version too', () => {
    const cluster = changed(k0smotronCluster('red'), {
      'spec.controllerPlaneFlags': ['--disable-components', 'konnectivity-server'],
    });

    expect(hasKonnectivity(cluster)).toBe(false);
  });
});
