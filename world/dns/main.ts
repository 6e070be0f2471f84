/**
 * The resolver of a world: answers from a file, knows nothing else, and asks nobody.
 *
 * usage: main.ts ADDRESS RECORDS
 */
import { answer, CODE, parseQuery } from './message.ts';
import { lookUp, recordsReader } from './records.ts';

const [hostname, path] = process.argv.slice(2);
if (!hostname || !path) throw new Error('usage: main.ts ADDRESS RECORDS');
const records = recordsReader(path);

await Bun.udpSocket({
  hostname,
  port: 53,
  socket: {
    data(socket, message, port, asker) {
      const query = parseQuery(message);
      if (!query) return;
      const record = lookUp(records(), query.name, asker);
      if (record === 'silent') return;
      if (record === 'servfail') socket.send(answer(query, CODE.servfail, []), port, asker);
      else if (record === undefined) socket.send(answer(query, CODE.nxdomain, []), port, asker);
      else socket.send(answer(query, CODE.ok, record), port, asker);
    },
  },
});
console.log(`answering on ${hostname}:53`);
