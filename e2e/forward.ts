/**
 * A plain TCP forwarder for tests. It listens where a worker's proxy would listen, without any TLS.
 *
 * usage: forward.ts LISTEN_HOST:PORT TARGET_HOST:PORT
 */
import { relay } from '../world/relay/relay.ts';

const [listen, target] = process.argv.slice(2).map((text) => {
  const [, host, port] = /^(.+):(\d+)$/.exec(text) ?? [];
  if (!host || !port) throw new Error(`'${text}' is not HOST:PORT`);
  return { host, port: Number(port) };
});
if (!listen || !target) throw new Error('usage: forward.ts LISTEN_HOST:PORT TARGET_HOST:PORT');
await relay(target, listen);
console.log(`listening on ${listen.host}:${listen.port}`);
