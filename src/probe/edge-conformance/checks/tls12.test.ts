import { expect, setDefaultTimeout, test } from 'bun:test';
import { EdgeLab } from '../testing/edge-lab.ts';
import { checkTls12 } from './tls12.ts';

setDefaultTimeout(240_000);

test('an edge that rejects a TLS 1.2 ClientHello fails', async () => {
  await using lab = await EdgeLab.create();
  const { port } = await lab.misbehavingEdge({ refusesTls12: true });

  const [version] = await checkTls12(await lab.checkup(port));

  expect(version).toMatchObject({ state: 'Fail', code: 'HelloNotRouted' });
});
