import { expect, setDefaultTimeout, test } from 'bun:test';
import { EdgeLab } from '../testing/edge-lab.ts';
import { checkManyConnections } from './many-connections.ts';

setDefaultTimeout(240_000);

test('an edge that accepts few connections at once fails', async () => {
  await using lab = await EdgeLab.create();
  const { port } = await lab.misbehavingEdge({ maxConnections: 30 });

  const result = await checkManyConnections(await lab.checkup(port));

  expect(result).toMatchObject({ state: 'Fail', code: 'ManyConnectionsRefused' });
});
