/**
 * The relay from the machine into a world: one loopback port per API server, so that kubectl and tests reach it without
 * a route into the world.
 *
 * usage: main.ts OUTPUT NAME=HOST:PORT...
 *
 * Writes {NAME: port} to OUTPUT when all ports listen.
 */
import { renameSync, writeFileSync } from 'node:fs';
import { enterNetworkOf } from '../machine/libc.ts';
import { portOf, relay } from './relay.ts';

const [output, ...targets] = process.argv.slice(2);
if (!output) throw new Error('usage: main.ts OUTPUT NAME=HOST:PORT...');

const ports: Record<string, number> = {};
for (const target of targets) {
  const [, name, host, port] = /^(.+)=(.+):(\d+)$/.exec(target) ?? [];
  if (!name || !host || !port) throw new Error(`'${target}' is not NAME=HOST:PORT`);
  ports[name] = portOf(await relay({ host, port: Number(port) }, { host: '127.0.0.1', port: 0 }));
}
// The ports above stay in the machine's network. Later connections originate in the world's network.
enterNetworkOf(1);
writeFileSync(`${output}.new`, JSON.stringify(ports));
renameSync(`${output}.new`, output);
