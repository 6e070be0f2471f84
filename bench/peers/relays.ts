/** Peers that are part of the bench: relays in Go and in C. */
import { run } from '../../world/machine/command.ts';
import { freePort, HOST } from '../lab/environment.ts';
import { compileC, compileGo } from '../programs/compiled.ts';
import type { Peer } from './peer.ts';

async function goVersion(): Promise<string> {
  return (await run(['go', 'version'])).stdout.trim();
}

/** The relays in Go and C. */
export const relayPeers: readonly Peer[] = [
  {
    name: 'go',
    role: 'gateway',
    kinds: ['plain', 'tls'],
    title: 'a relay in Go, routing by SNI, io.Copy',
    version: goVersion,
    async launch(environment) {
      const port = freePort();
      const backend = `127.0.0.1:${environment.backendPort}`;
      return { argv: [await compileGo(), 'sni', String(port), HOST, backend], port };
    },
  },
  {
    name: 'c',
    role: 'gateway',
    kinds: ['plain', 'tls'],
    title: 'the lower bound: a relay in C that does nothing else',
    async version() {
      await compileC();
      return 'bench/c/relay.c';
    },
    async launch(environment) {
      const port = freePort();
      const { relay } = await compileC();
      return { argv: [relay, String(port), HOST, String(environment.backendPort)], port };
    },
  },
  {
    name: 'go-terminate',
    role: 'proxy',
    kinds: ['tls'],
    title: "a relay in Go with the structure of Steward's proxy, terminating and re-encrypting TLS",
    version: goVersion,
    async launch(environment) {
      const port = freePort();
      const { leafCertificate, leafKey, ca } = environment.files;
      const args = [
        String(port),
        HOST,
        `127.0.0.1:${environment.edgePort}`,
        leafCertificate,
        leafKey,
        ca,
      ];
      return { argv: [await compileGo(), 'terminate', ...args], port };
    },
  },
];
