/**
 * Opens many watches at once, each on its own connection, and prints when each ends. It simulates kubelets and
 * controllers during a shutdown of the gateway.
 *
 * usage: open-watches.ts SERVER COUNT CREDENTIALS
 *
 * CREDENTIALS is a path without .crt and .key, with the CA beside it. Prints `open` when all watches have their first
 * answer, then `ended MILLISECONDS-SINCE-1970` for each.
 */
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const [server = '', count = '', credentials = ''] = process.argv.slice(2);
const tls = {
  ca: readFileSync(join(dirname(credentials), 'ca.crt'), 'utf8'),
  cert: readFileSync(`${credentials}.crt`, 'utf8'),
  key: readFileSync(`${credentials}.key`, 'utf8'),
};

/** Runs one watch until it ends. */
async function watch(opened: () => void): Promise<void> {
  const url = `${server}/api/v1/namespaces?watch=true&allowWatchBookmarks=true`;
  // Without keep-alive, so that 500 watches are 500 connections.
  let response = await fetch(url, { tls, keepalive: false });
  while (response.status === 429) {
    await Bun.sleep(500); // the API server's flow control limits concurrent requests
    response = await fetch(url, { tls, keepalive: false });
  }
  if (!response.ok) throw new Error(`the watch was answered with ${response.status}`);
  const reader = response.body?.getReader();
  if (reader === undefined) throw new Error('the watch has no body');
  await reader.read(); // a watch starts with the existing objects
  opened();
  try {
    while (!(await reader.read()).done);
  } catch {
    // a reset also ends the watch
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
