// `make generate`: writes the CustomResourceDefinitions and their reference from the schemas in src/api.
import { mkdir } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { generatedFiles } from '../src/api/generated.ts';

const root = resolve(import.meta.dir, '..');

for (const [path, text] of generatedFiles()) {
  const file = join(root, path);
  await mkdir(dirname(file), { recursive: true });
  await Bun.write(file, text);
  console.log(path);
}
