import { expect, setDefaultTimeout, test } from 'bun:test';
import { neverRespond } from '../../testing/responses.ts';
import { EdgeLab, expectResult, HOST_A } from '../testing/edge-lab.ts';
import { checkServerClose } from './server-close.ts';

setDefaultTimeout(240_000);

test('an edge that does not forward the close of the server fails', async () => {
  await using lab = await EdgeLab.create();
  const { port } = await lab.misbehavingEdge({ dropsEndOf: 'server' });
  const checkup = await lab.checkup(port);

  const { state } = await expectResult({ code: 'CloseNotForwarded' }, async (timeoutMs) =>
    checkServerClose({ ...checkup, limits: { timeoutMs } }),
  );

  expect(state).toBe('Fail');
});

test('is skipped if no server supports HTTP', async () => {
  await using lab = await EdgeLab.create();
  const { port } = await lab.edgeInFrontOf(neverRespond);
  const checkup = await lab.checkup(port, { hosts: [HOST_A], isHttp: false });

  expect(await checkServerClose(checkup)).toMatchObject({ state: 'Skip', code: 'NotApplicable' });
});
