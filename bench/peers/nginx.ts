import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { run } from '../../world/machine/command.ts';
import { fileLimit } from '../lab/placement.ts';
import { freePort, HOST } from '../lab/environment.ts';
import { peerTree } from './haproxy.ts';
import type { Peer } from './peer.ts';

/** nginx at the edge. It is not a peer on a worker, because it cannot write the authority TLV. */
export const nginxPeer: Peer = {
  name: 'nginx',
  role: 'gateway',
  kinds: ['plain', 'tls'],
  title: 'nginx stream with ssl_preread',
  async version() {
    const tree = await peerTree();
    return (await run([...tree.command('usr/sbin/nginx'), '-v'])).stderr.trim();
  },
  async launch(environment) {
    const tree = await peerTree();
    const port = freePort();
    const folder = join(environment.folder, 'nginx');
    const file = join(folder, 'nginx.conf');
    writeFileSync(
      file,
      `load_module ${tree.root}/usr/lib/nginx/modules/ngx_stream_module.so;
daemon off;
master_process off;
worker_processes 1;
worker_rlimit_nofile ${fileLimit};
pid ${folder}/nginx.pid;
error_log stderr warn;
events { worker_connections 20000; }
stream {
  tcp_nodelay on;
  proxy_timeout 600s;
  map $ssl_preread_server_name $tenant {
    ${HOST} 127.0.0.1:${environment.backendPort};
    default 127.0.0.1:1;
  }
  server {
    listen 127.0.0.1:${port} backlog=4096;
    ssl_preread on;
    proxy_pass $tenant;
  }
}
`,
    );
    return {
      argv: [...tree.command('usr/sbin/nginx'), '-e', 'stderr', '-p', folder, '-c', file],
      port,
    };
  },
};
