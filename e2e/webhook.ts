/**
 * An admission webhook that refuses every request.
 *
 * usage: webhook.ts HOST:PORT CREDENTIAL, a path without .crt and .key
 */
const [listen = '', credential = ''] = process.argv.slice(2);
const [, hostname, port] = /^(.+):(\d+)$/.exec(listen) ?? [];
if (!hostname || !credential) throw new Error('usage: webhook.ts HOST:PORT CREDENTIAL');

Bun.serve({
  hostname,
  port: Number(port),
  tls: { cert: Bun.file(`${credential}.crt`), key: Bun.file(`${credential}.key`) },
  async fetch(request) {
    const review = (await request.json()) as {
      apiVersion: string;
      kind: string;
      request: { uid: string };
    };
    const status = { message: 'refused by a process on the worker' };
    return Response.json({
      ...review,
      response: { uid: review.request.uid, allowed: false, status },
    });
  },
});
console.log('listening');
