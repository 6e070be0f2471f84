/**
 * Opens many watches at once, each on a connection of its own, and says when each ends: what kubelets and controllers are
 * like when a gateway goes.
 *
 * usage: open-watches.ts SERVER COUNT CREDENTIALS, the last being the path without .crt and .key; the CA is beside it.
 * Prints `open` when all have their first answer, then `ended MILLISECONDS-SINCE-1970` for each.
 */
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const [server = '', count = '', credentials = ''] = process.argv.slice(2);
const tls = {
  ca: readFileSync(join(dirname(credentials), 'ca.crt'), 'utf8'),
  cert: readFileSync(`${credentials}.crt`, 'utf8'),
  key: readFileSync(`${credentials}.key`, 'utf8'),
};

/** One watch, to its end. */
async function watch(opened: () => void): Promise<void> {
  const url = `${server}/api/v1/namespaces?watch=true&allowWatchBookmarks=true`;
  // Not kept for the next one: 500 watches are to be 500 connections.
  let response = await fetch(url, { tls, keepalive: false });
  while (response.status === 429) {
    await Bun.sleep(500); // so many at once are too many for the API server's own fairness
    response = await fetch(url, { tls, keepalive: false });
  }
  if (!response.ok) throw new Error(`the watch was answered with ${response.status}`);
  const reader = response.body?.getReader();
  if (reader === undefined) throw new Error('the watch has no body');
  await reader.read(); // a watch begins with what there is
  opened();
  try {
    while (!(await reader.read()).done);
  } catch {
    // cut, not ended: that is an end too
  }
  console.log(`ended ${Date.now()}`);
}

let open = 0;
const watches = Array.from({ length: Number(count) }, async () =>
  watch(() => {
    if (++open === Number(count)) console.log('open');
  }),
);
await Promise.all(watches);
