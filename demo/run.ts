/**
 * The problem that Snicket is for, on real TLS sockets: two tenants behind one address, and what that address
 * learns of its clients. Needs npm only; everything happens on loopback and ends by itself.
 */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { connect, createServer } from 'node:tls';
import { Authority, type Credential } from '../world/cluster/pki.ts';
import { table } from '../world/screen.ts';

interface Tenant {
  readonly name: string;
  readonly host: string;
  readonly authority: Authority;
  readonly serving: Credential;
}

/** A tenant has a CA of its own, and an API server certificate for its host and for the address that pods dial. */
async function newTenant(name: string): Promise<Tenant> {
  const host = `${name}.k8s.snicket.test`;
  const authority = await Authority.create(`${name}-ca`);
  const names = [host, '10.96.0.1', '127.0.0.1'];
  return {
    name,
    host,
    authority,
    serving: await authority.issue({ commonName: 'kube-apiserver', names }),
  };
}

const a = await newTenant('a');
const b = await newTenant('b');

// The shared address can only go by the name in a client's hello; where there is none, it must take somebody.
const shared = createServer({ cert: a.serving.certificate, key: a.serving.key }, (socket) =>
  socket.end(),
);
for (const { host, serving } of [a, b]) {
  shared.addContext(host, { cert: serving.certificate, key: serving.key });
}
shared.on('tlsClientError', () => {}); // a client that found the wrong tenant hangs up, and reports it itself
shared.listen(0, '127.0.0.1');
await once(shared, 'listening');
const { port } = shared.address() as AddressInfo;

const rows = [['WHO', 'TENANT', 'DIALS', 'NAME IN THE HELLO', 'WHO ANSWERED']];
for (const tenant of [a, b]) {
  const answer = await answerTo(tenant, tenant.host);
  rows.push(['kubelet, kubectl', tenant.name, tenant.host, tenant.host, answer]);
}
for (const tenant of [a, b]) {
  rows.push(['a pod', tenant.name, '10.96.0.1', 'none', await answerTo(tenant, '')]);
}
shared.close();

console.log(`Two tenants behind one address, 127.0.0.1:${port}:\n`);
console.log(
  table(rows)
    .map((row) => `  ${row}`)
    .join('\n'),
);
console.log(`
Clients that dial a name are told apart. Pods dial an address, name nobody, and the pod of
tenant b is lost. Something on its worker has to carry the tenant's name to the shared address:
that is what snicket proxy does.
The solution, with real Kubernetes, kubelets and pods: make e2e T=data-plane`);

/** Dials the shared address as a client of one tenant, which trusts that tenant's CA and nobody else's. */
async function answerTo(tenant: Tenant, servername: string): Promise<string> {
  const socket = connect({ host: '127.0.0.1', port, ca: tenant.authority.certificate, servername });
  try {
    await once(socket, 'secureConnect');
    return `its own tenant, ${tenant.name}`;
  } catch (error) {
    return `another tenant (${(error as NodeJS.ErrnoException).code})`;
  } finally {
    socket.destroy();
  }
}
