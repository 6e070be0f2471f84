import { expect, test } from 'bun:test';
import { createWorld, IMAGE, PLAIN_WORLD } from './testing/generated-worlds.ts';

test('shows the rollout of a new release', async () => {
  const { spec } = PLAIN_WORLD;
  const past = { spec, image: 'snicket.test/snicket:1', reconciles: 2, drifts: [] };
  const lab = await createWorld({ ...PLAIN_WORLD, past });

  const { changes } = await lab.dryRun(IMAGE);

  const [set] = changes.tenant.filter(({ object }) => object.kind === 'DaemonSet');
  expect(set).toMatchObject({ action: 'change', waits: false });
  expect(set?.fields.map(({ to }) => to)).toContain(IMAGE);
});
