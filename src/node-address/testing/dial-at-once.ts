/**
 * For tests only, in a network namespace: adds addresses, dials each immediately, and prints how many dials succeeded.
 */
import { NodeAddresses } from '../node-addresses.ts';

using node = new NodeAddresses();
let answered = 0;
for (let count = 1; count <= 100; count++) {
  const hostname = `fd00:64::${count}`;
  node.add(hostname);
  using server = Bun.listen({ hostname, port: 0, socket: { data() {} } });
  const client = Bun.connect({ hostname, port: server.port, socket: { data() {} } });
  const socket = await client.catch(() => undefined);
  if (socket !== undefined) answered++;
  socket?.terminate();
  node.remove(hostname);
}
console.log(`${answered} answered`);
