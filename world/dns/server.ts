import { answer, CODE, parseQuery } from './message.ts';
import { lookUp, recordsReader } from './records.ts';

/** Answers queries over UDP from a file of records. Port 0 selects a free port. */
export async function serveDns(
  hostname: string,
  port: number,
  recordsPath: string,
): Promise<Bun.udp.Socket<'buffer'>> {
  const records = recordsReader(recordsPath);
  return Bun.udpSocket({
    hostname,
    port,
    socket: {
      data(socket, message, clientPort, client) {
        const query = parseQuery(message);
        if (!query) return;
        const record = lookUp(records(), query.name, client);
        if (record === 'silent') return;
        if (record === 'servfail')
          socket.send(answer(query, CODE.servfail, []), clientPort, client);
        else if (record === undefined)
          socket.send(answer(query, CODE.nxdomain, []), clientPort, client);
        else socket.send(answer(query, CODE.ok, record), clientPort, client);
      },
    },
  });
}
