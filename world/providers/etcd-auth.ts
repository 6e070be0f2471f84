/**
 * Enables authentication in an etcd: the user of a certificate with CN=root has all permissions. usage: etcd-auth.ts
 * URL
 */
import { waitFor } from '../wait.ts';

const url = process.argv[2];
if (!url) throw new Error('usage: etcd-auth.ts URL');

await waitFor('etcd listens', async () => {
  try {
    return (await fetch(`${url}/health`)).ok;
  } catch {
    return false; // etcd does not listen yet
  }
});
await post('/v3/auth/user/add', { name: 'root', options: { no_password: true } });
await post('/v3/auth/role/add', { name: 'root' });
await post('/v3/auth/user/grant', { user: 'root', role: 'root' });
await post('/v3/auth/enable', {});

async function post(path: string, body: object): Promise<void> {
  const response = await fetch(`${url}${path}`, { method: 'POST', body: JSON.stringify(body) });
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
}
