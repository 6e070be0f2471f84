/**
 * Listens, saves the first record of each connection as FOLDER/N.bin, and closes the connection.
 *
 * usage: hello-recorder.ts HOST:PORT FOLDER
 */
import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';

const [listen = '', folder = ''] = process.argv.slice(2);
const [, host, port] = /^(.+):(\d+)$/.exec(listen) ?? [];
if (!host || !folder) throw new Error('usage: hello-recorder.ts HOST:PORT FOLDER');
mkdirSync(folder, { recursive: true });

let count = 0;
createServer((socket) => {
  let bytes = Buffer.alloc(0);
  socket.on('data', (chunk: Buffer) => {
    bytes = Buffer.concat([bytes, chunk]);
    if (bytes.length < 5 || bytes.length < 5 + bytes.readUInt16BE(3)) return;
    const path = join(folder, `${count++}.bin`);
    writeFileSync(`${path}.new`, bytes);
    renameSync(`${path}.new`, path);
    socket.destroy();
  });
  socket.on('error', () => socket.destroy()); // the client closed before it sent a whole record
}).listen(Number(port), host, () => console.log('listening'));
