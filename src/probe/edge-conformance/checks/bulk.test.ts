import { expect, setDefaultTimeout, test } from 'bun:test';
import { neverRespond } from '../../testing/responses.ts';
import { EdgeLab, HOST_A } from '../testing/edge-lab.ts';
import { checkBulk } from './bulk.ts';

// Limits that hold on a machine that pauses.
setDefaultTimeout(240_000);

test('fails for an edge that cuts connections under load', async () => {
  await using lab = await EdgeLab.create();
  const { port } = await lab.misbehavingEdge({ cutsAfterBytes: 100_000 });

  const result = await checkBulk(await lab.checkup(port));

  expect(result).toMatchObject({ state: 'Fail', code: 'BulkInterrupted' });
});

test('is skipped if no server supports HTTP', async () => {
  await using lab = await EdgeLab.create();
  const { port } = await lab.edgeInFrontOf(neverRespond);
  const checkup = await lab.checkup(port, { hosts: [HOST_A], isHttp: false });

  expect(await checkBulk(checkup)).toMatchObject({ state: 'Skip', code: 'NotApplicable' });
});
