/**
 * The management cluster of a testbed without a world: `local-management.ts KUBECONFIG SOCKET`. Runs the test API server
 * in a separate process, and serves the counts of its requests on the socket.
 */
import { renameSync, writeFileSync } from 'node:fs';
import { TestApiServer } from '../../../src/kube/testing/api-server.ts';
import { writeKubeconfig } from '../../../src/pki/kubeconfig.ts';
import { RequestCounts } from '../request-counts.ts';
import { SYSTEM_NAMESPACE } from './testbed.ts';

const [kubeconfig = '', socket = ''] = process.argv.slice(2);
const server = await TestApiServer.start({ bookmarkEveryMs: 60_000, historyLimit: 200_000 });
server.seed({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: SYSTEM_NAMESPACE } });
const { credentials } = server.access;
const text = writeKubeconfig({
  server: server.url,
  ca: server.ca,
  names: { cluster: 'management', user: 'bench' },
  credentials: { token: credentials.kind === 'token' ? credentials.token : '' },
});

Bun.serve({
  unix: socket,
  fetch() {
    const counts = new RequestCounts();
    for (const { verb, plural } of server.requests()) counts.add(verb, plural);
    return Response.json(counts.requests);
  },
});
writeFileSync(`${kubeconfig}.new`, text, { mode: 0o600 });
renameSync(`${kubeconfig}.new`, kubeconfig);
