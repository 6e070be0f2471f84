import { describe, setDefaultTimeout, test } from 'bun:test';
import { silent } from '../../testing/responses.ts';
import { EdgeLab, expectResult, HOST_A } from '../testing/edge-lab.ts';
import type { EdgeFaults } from '../testing/misbehaving-edge.ts';
import { httpSpeaker } from '../testing/http-speaker.ts';
import { checkHalfClose } from './half-close.ts';

setDefaultTimeout(240_000);

describe.each([
  ['ends both sides when one ends', { cutsHalfClose: true }, 'HalfCloseCutsResponse'],
  ['ignores the end of clients', { dropsEndOf: 'client' }, 'HalfCloseNotForwarded'],
  ['passes ends on', {}, 'HalfCloseWorks'],
] as const)('an edge that %s', (_, faults: EdgeFaults, code) => {
  test('before a server of HTTP', async () => {
    await using lab = await EdgeLab.create();
    const { port } = await lab.misbehavingEdge(faults);
    const checkup = await lab.checkup(port);

    await expectResult({ code }, async (timeoutMs) =>
      checkHalfClose({ ...checkup, limits: { timeoutMs } }, true),
    );
  });

  test('before a server that does not speak HTTP', async () => {
    await using lab = await EdgeLab.create();
    const { port } = await lab.edgeInFrontOf(silent, faults);
    const checkup = await lab.checkup(port, { hosts: [HOST_A], isHttp: false });

    await expectResult({ code }, async (timeoutMs) =>
      checkHalfClose({ ...checkup, limits: { timeoutMs } }, true),
    );
  });
});

test('an edge that passes on no end of a server may pass on those of clients', async () => {
  await using lab = await EdgeLab.create();
  const { port } = await lab.misbehavingEdge({ dropsEndOf: 'server' });
  const checkup = await lab.checkup(port);

  await expectResult({ code: 'HalfCloseWorks' }, async (timeoutMs) =>
    checkHalfClose({ ...checkup, limits: { timeoutMs } }, false),
  );
});

test('a server that hangs up when a client ends its side leaves the result unclear', async () => {
  await using lab = await EdgeLab.create();

  await expectResult({ code: 'HalfCloseUnclear' }, async (timeoutMs) => {
    const { port } = await lab.edgeInFrontOf(httpSpeaker({ hangsUpWithin: timeoutMs / 4 }));
    const checkup = await lab.checkup(port, { hosts: [HOST_A] });
    return checkHalfClose({ ...checkup, limits: { timeoutMs } }, true);
  });
});
