/**
 * For tests only, in its own network and mount namespaces: looks up hosts while the DNS servers of `/etc/resolv.conf`,
 * the file in `RESOLV_CONF`, change. Prints the results as JSON.
 */
import { writeFileSync } from 'node:fs';
import { systemLookup } from '../system-lookup.ts';

const file = process.env['RESOLV_CONF'] ?? '';
const report: Record<string, unknown> = {};

/** Starts a DNS server that answers every name with `ipv4`, or never responds. */
async function dnsServer(hostname: string, ipv4?: readonly number[]) {
  const server = await Bun.udpSocket({
    hostname,
    port: 53,
    socket: {
      data(socket, query, port, address) {
        if (ipv4 !== undefined) socket.send(answerTo(query, ipv4), port, address);
      },
    },
  });
  writeFileSync(file, `nameserver ${hostname}\n`);
  return server;
}

/**
 * Returns a response with one address for a question of type A (1), and none for others. The name starts at byte 12.
 */
function answerTo(query: Buffer, ipv4: readonly number[]): Buffer {
  const end = query.indexOf(0, 12) + 5;
  const answers = query.readUInt16BE(end - 4) === 1 ? [ipv4] : [];
  return Buffer.concat([
    query.subarray(0, 2),
    Buffer.from([0x81, 0x80, 0, 1, 0, answers.length, 0, 0, 0, 0]),
    query.subarray(12, end),
    ...answers.map((bytes) => Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, ...bytes])),
  ]);
}

/** Returns the addresses of a host, or the code of the error. */
async function lookUp(host: string): Promise<unknown> {
  try {
    return await systemLookup(host);
  } catch (error) {
    return error instanceof Error && 'code' in error ? error.code : String(error);
  }
}

report['no server yet'] = await lookUp('one.example.test');

report['a name below localhost'] = await lookUp('a.k8s.localhost');

const first = await dnsServer('127.0.0.9', [192, 0, 2, 1]);
const hosts = ['two.example.test', 'three.example.test', 'four.example.test'];
report['a server at last'] = await Promise.all(hosts.map(lookUp));

first.close();
const second = await dnsServer('127.0.0.10', [192, 0, 2, 2]);
report['another server'] = await lookUp('five.example.test');

second.close();
report['none again'] = await lookUp('six.example.test');

const silent = await dnsServer('127.0.0.11');
const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
const { privateKey } = await crypto.subtle.generateKey(algorithm, false, ['sign', 'verify']);
let lookupsDone = 0;
for (let i = 0; i < 100; i++) void lookUp(`silent-${i}.example.test`).then(() => lookupsDone++);
await crypto.subtle.sign(algorithm, privateKey, Buffer.from('text'));
report['lookups that a signature waited for'] = lookupsDone;
silent.close();

process.stdout.write(JSON.stringify(report));
process.exit(0);
