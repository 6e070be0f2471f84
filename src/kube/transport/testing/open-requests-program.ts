/**
 * For tests only: opens watches, or requests that hang, and sends one more request when the expected number is open.
 * Runs as a separate process, since Bun reads its limit only once.
 */
import { ManualClock } from '../../../clock/manual-clock.ts';
import { createClient } from '../../client/fetch-client.ts';
import { RESOURCES } from '../../resource.ts';
import { startServer } from './server.ts';

const [kind, count, expected] = process.argv.slice(2);
const server = await startServer((exchange) => {
  if (exchange.path === '/version') exchange.respond(200, { gitVersion: 'v1.36.0' });
  else if (exchange.query.has('watch')) exchange.open();
});
const access = { server: server.url, credentials: { kind: 'none' }, namespace: 'default' } as const;

/** Opens one watch or request with a new client. The limit applies to the whole process. */
async function occupy(): Promise<void> {
  const client = createClient(access, { timeoutMs: 600_000 });
  if (kind === 'requests') await client.list(RESOURCES.service);
  else await Array.fromAsync(client.watch(RESOURCES.service, { resourceVersion: '1' }));
}

const open = () => server.exchanges.filter(({ path }) => path !== '/version').length;
const untilOpen = async (wanted: number) => {
  while (open() < Math.min(wanted, Number(expected))) await Bun.sleep(10);
};
// Opening all at once would overflow the listen backlog, and some connections would be reset.
for (let index = 1; index <= Number(count); index++) {
  void occupy();
  if (index % 100 === 0) await untilOpen(index);
}
const clock = new ManualClock();
const asking = createClient(access, { clock })
  .version()
  .then(({ gitVersion }) => gitVersion, String);

await untilOpen(Number(count));
// If some are queued, the last request is queued too. Only waiting can show that.
if (expected !== count) {
  await Bun.sleep(500);
  clock.advance(30_000);
}
console.log(JSON.stringify({ open: open(), response: await asking }));
process.exit(0);
