/**
 * For tests only: opens watches, or requests that hang, and then asks for something when as many are open as are expected
 * to. A process of its own, since Bun reads its limit but once.
 */
import { ManualClock } from '../../../clock/manual-clock.ts';
import { createClient } from '../../client/fetch-client.ts';
import { RESOURCES } from '../../resource.ts';
import { startServer } from './server.ts';

const [kind, count, expected] = process.argv.slice(2);
const server = await startServer((exchange) => {
  if (exchange.path === '/version') exchange.answer(200, { gitVersion: 'v1.36.0' });
  else if (exchange.query.has('watch')) exchange.open();
});
const access = { server: server.url, credentials: { kind: 'none' }, namespace: 'default' } as const;

/** As many clients as watches or requests: the limit is one of the process. */
async function occupy(): Promise<void> {
  const client = createClient(access, { timeoutMs: 600_000 });
  if (kind === 'requests') await client.list(RESOURCES.service);
  else await Array.fromAsync(client.watch(RESOURCES.service, { resourceVersion: '1' }));
}

const open = () => server.exchanges.filter(({ path }) => path !== '/version').length;
const untilOpen = async (wanted: number) => {
  while (open() < Math.min(wanted, Number(expected))) await Bun.sleep(10);
};
// All at once would be more than the queue of a listener holds, and some would be reset.
for (let index = 1; index <= Number(count); index++) {
  void occupy();
  if (index % 100 === 0) await untilOpen(index);
}
const clock = new ManualClock();
const asking = createClient(access, { clock })
  .version()
  .then(({ gitVersion }) => gitVersion, String);

await untilOpen(Number(count));
// If not all are open, one more will not be either: to see that, there is but to wait.
if (expected !== count) {
  await Bun.sleep(500);
  clock.advance(30_000);
}
console.log(JSON.stringify({ open: open(), answer: await asking }));
process.exit(0);
