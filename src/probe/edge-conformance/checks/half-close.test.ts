import { describe, setDefaultTimeout, test } from 'bun:test';
import { neverRespond } from '../../testing/responses.ts';
import { EdgeLab, expectResult, HOST_A } from '../testing/edge-lab.ts';
import type { EdgeFaults } from '../testing/misbehaving-edge.ts';
import { httpSpeaker } from '../testing/http-speaker.ts';
import { checkHalfClose } from './half-close.ts';

setDefaultTimeout(240_000);

describe.each([
  ['ends both sides when one ends', { cutsHalfClose: true }, 'HalfCloseCutsResponse'],
  ['ignores the end of clients', { dropsEndOf: 'client' }, 'CloseNotForwarded'],
  ['passes ends on', {}, 'Passed'],
] as const)('an edge that %s', (_, faults: EdgeFaults, code) => {
  test('in front of an HTTP server', async () => {
    await using lab = await EdgeLab.create();
    const { port } = await lab.misbehavingEdge(faults);
    const checkup = await lab.checkup(port);

    await expectResult({ code }, async (timeoutMs) =>
      checkHalfClose({ ...checkup, limits: { timeoutMs } }, true),
    );
  });

  test('in front of a server without HTTP', async () => {
    await using lab = await EdgeLab.create();
    const { port } = await lab.edgeInFrontOf(neverRespond, faults);
    const checkup = await lab.checkup(port, { hosts: [HOST_A], isHttp: false });

    await expectResult({ code }, async (timeoutMs) =>
      checkHalfClose({ ...checkup, limits: { timeoutMs } }, true),
    );
  });
});

test('an edge that does not forward the close of servers may still forward the close of clients', async () => {
  await using lab = await EdgeLab.create();
  const { port } = await lab.misbehavingEdge({ dropsEndOf: 'server' });
  const checkup = await lab.checkup(port);

  await expectResult({ code: 'Passed' }, async (timeoutMs) =>
    checkHalfClose({ ...checkup, limits: { timeoutMs } }, false),
  );
});

test('the result is unclear if the server closes the connection when the client closes its side', async () => {
  await using lab = await EdgeLab.create();

  await expectResult({ code: 'HalfCloseUnclear' }, async (timeoutMs) => {
    const { port } = await lab.edgeInFrontOf(httpSpeaker({ hangsUpWithin: timeoutMs / 4 }));
    const checkup = await lab.checkup(port, { hosts: [HOST_A] });
    return checkHalfClose({ ...checkup, limits: { timeoutMs } }, true);
  });
});
