/**
 * The resolver of a world. It answers from a file and forwards nothing.
 *
 * usage: main.ts ADDRESS RECORDS
 */
import { serveDns } from './server.ts';

const [hostname, path] = process.argv.slice(2);
if (!hostname || !path) throw new Error('usage: main.ts ADDRESS RECORDS');
await serveDns(hostname, 53, path);
console.log(`answering on ${hostname}:53`);
