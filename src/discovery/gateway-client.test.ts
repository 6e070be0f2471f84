import { expect, test } from 'bun:test';
import { ManualClock } from '../clock/manual-clock.ts';
import { RESOURCES } from '../kube/resource.ts';
import { FLAG, frame, FRAME } from '../kube/transport/http2/frames.ts';
import { startScriptedServer } from '../kube/transport/testing/scripted-http2.ts';
import { TestAuthority } from '../net/testing/certificates.ts';
import { until } from '../net/testing/peer.ts';
import { createGatewayClient } from './gateway-client.ts';

const STATUS_200 = Buffer.from([0x88]);

test('a watch of a silent API server ends within 95 seconds', async () => {
  const authority = await TestAuthority.create();
  const serving = await authority.issue({ names: ['127.0.0.1'] });
  const pings: number[] = [];
  const peer = await startScriptedServer(serving, ({ type, streamId }, send) => {
    if (type === FRAME.headers) send(frame(FRAME.headers, FLAG.endHeaders, streamId, STATUS_200));
    if (type === FRAME.ping) pings.push(streamId);
  });
  const clock = new ManualClock();
  const access = {
    server: peer.at,
    ca: authority.cert,
    credentials: { kind: 'none' },
    namespace: 'default',
  } as const;
  const client = createGatewayClient(access, clock);
  let isOpen = false;
  const onOpen = () => (isOpen = true);
  const ended = client
    .watch(RESOURCES.tenantRoute, { resourceVersion: '1', onOpen })
    [Symbol.asyncIterator]()
    .next()
    .catch((error: unknown) => error);
  await until(() => isOpen, 'the watch', 4_000);

  clock.advance(90_000);
  await until(() => pings.length === 1, 'a ping', 4_000);
  clock.advance(5_000);

  expect(String(await ended)).toContain('the server did not answer a ping');
  for (const socket of peer.sockets) socket.destroy();
  peer.server.close();
});
