import { expect, setDefaultTimeout, test } from 'bun:test';
import { EdgeLab, expectResult, HOST_A } from '../testing/edge-lab.ts';
import type { EdgeFaults } from '../testing/misbehaving-edge.ts';
import {
  checkLargeHello,
  checkSmallRecords,
  checkSplitHello,
  checkUpperCase,
} from './hello-forms.ts';

setDefaultTimeout(240_000);

test.each([
  ['reads the hello once', { readsOnce: 'misroutes' }, checkSplitHello, 'HelloNotRouted'],
  ['reads only one record', { firstRecord: 'refuses' }, checkSmallRecords, 'SmallRecordsRefused'],
  [
    'routes by the first record',
    { firstRecord: 'misroutes' },
    checkSmallRecords,
    'DefaultRouteReachesTenant',
  ],
  ['has a small buffer', { maxHelloBytes: 1460 }, checkLargeHello, 'HelloNotRouted'],
  ['compares names case-sensitively', { isCaseSensitive: true }, checkUpperCase, 'HelloNotRouted'],
] as const)('detects an edge that %s', async (_, faults: EdgeFaults, check, code) => {
  await using lab = await EdgeLab.create();
  const { port } = await lab.misbehavingEdge(faults);

  expect(await check(await lab.checkup(port))).toMatchObject({ code });
});

test('distinguishes a split ClientHello without a response from a misrouted one', async () => {
  await using lab = await EdgeLab.create();
  const { port } = await lab.misbehavingEdge({ readsOnce: 'holds' });
  const checkup = await lab.checkup(port);

  let limitMs = 0;
  const result = await expectResult({ code: 'TlsTimeout' }, async (timeoutMs) => {
    limitMs = timeoutMs;
    return checkSplitHello({ ...checkup, limits: { timeoutMs } });
  });

  expect(result).toMatchObject({
    state: 'Fail',
    message: `The server at 127.0.0.1:${port} did not answer within ${limitMs / 1000} s for host ${HOST_A} with a ClientHello in six segments.`,
  });
});
