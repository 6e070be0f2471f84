import { answer, CODE, parseQuery } from './message.ts';
import { lookUp, recordsReader } from './records.ts';

/** Answers queries over UDP from a file of records; port 0 picks a free port. */
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
      data(socket, message, askerPort, asker) {
        const query = parseQuery(message);
        if (!query) return;
        const record = lookUp(records(), query.name, asker);
        if (record === 'silent') return;
        if (record === 'servfail') socket.send(answer(query, CODE.servfail, []), askerPort, asker);
        else if (record === undefined)
          socket.send(answer(query, CODE.nxdomain, []), askerPort, asker);
        else socket.send(answer(query, CODE.ok, record), askerPort, asker);
      },
    },
  });
}
