/**
 * For tests only: opens watches and then asks for something. A process of its own, since Bun reads its limit but once.
 */
import { ManualClock } from '../engine/clock.ts';
import { createClient } from './fetch-client.ts';
import { RESOURCES } from './resource.ts';
import { startServer } from './transport-test-server.ts';

const count = Number(process.argv[2]);
const server = await startServer((exchange) => {
  if (exchange.path === '/version') exchange.answer(200, { gitVersion: 'v1.36.0' });
  else exchange.open();
});
const access = {
  server: server.url,
  credentials: { kind: 'none' },
  namespace: 'default',
} as const;

let open = 0;
async function watch(): Promise<void> {
  // As many clients as watches: the limit is one of the process.
  const events = createClient(access, { timeoutMs: 600_000 }).watch(RESOURCES.service, {
    resourceVersion: '1',
    onOpen: () => open++,
  });
  for await (const _ of events) continue;
}
for (let index = 0; index < count; index++) void watch();

const clock = new ManualClock();
const asking = createClient(access, { clock })
  .version()
  .then(
    ({ gitVersion }) => gitVersion,
    (error: unknown) => String(error),
  );
// Those that wait for others look like those that are slow: nothing tells but that nothing opens any more.
for (let before = -1; before !== open;) {
  before = open;
  await Bun.sleep(300);
}
clock.advance(30_000);
const answer = await asking;
console.log(JSON.stringify({ open, answer }));
process.exit(0);
