/**
 * Writes dist/snicket-image.tar from dist/snicket.
 *
 * usage: build.ts [NAME], with a tag, such as registry.example.com/snicket:0.1.0
 */
import { renameSync, writeFileSync } from 'node:fs';
import { relative, resolve } from 'node:path';
import { imageNameProblem } from './image-name.ts';
import { ociImage } from './oci.ts';
import { IMAGE_NAME, snicketImage } from './snicket-image.ts';

const dist = resolve(import.meta.dir, '../dist');
const executable = `${dist}/snicket`;
const output = `${dist}/snicket-image.tar`;

const name = process.argv[2] ?? IMAGE_NAME;
const fault = imageNameProblem(name);
if (fault !== undefined) {
  console.error(`image: ${fault}`);
  process.exit(2);
}

console.error(`image: compressing ${relative(process.cwd(), executable)}, takes some seconds`);
const { archive, digest, layers } = ociImage(snicketImage(executable, name));
// A process that is importing the previous file continues to read it.
writeFileSync(`${output}.${process.pid}`, archive);
renameSync(`${output}.${process.pid}`, output);

const sizes = layers.map(({ size }) => megabytes(size));
console.log(`${relative(process.cwd(), output)}  ${megabytes(archive.length)}`);
console.log(`name    ${name}`);
console.log(`digest  ${digest}`);
console.log(`layers  libraries ${sizes[0]}, snicket ${sizes[1]}`);

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}
