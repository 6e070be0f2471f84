import { expect, setDefaultTimeout, test } from 'bun:test';
import { EdgeLab, HOST_A } from '../testing/edge-lab.ts';
import { checkProxyHeader } from './proxy-header.ts';

setDefaultTimeout(240_000);

test('an edge that accepts the PROXY header of every client gets a warning', async () => {
  await using lab = await EdgeLab.create();
  const { port } = await lab.misbehavingEdge({ proxyHeader: 'taken' });

  const result = await checkProxyHeader(await lab.checkup(port), HOST_A, true);

  expect(result).toMatchObject({ state: 'Warn', code: 'ProxyHeaderAccepted' });
});
