// `make generate`: writes the CustomResourceDefinitions and their reference from the schemas in src/api, and the
// reference of all codes from their catalogs.
import { mkdir } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { generatedFiles } from '../src/api/definition/generated.ts';
import { CODES_PAGE, codesReference } from '../src/cli/doctor/codes-reference.ts';

const root = resolve(import.meta.dir, '..');

for (const [path, text] of [...generatedFiles(), [CODES_PAGE, codesReference()] as const]) {
  const file = join(root, path);
  await mkdir(dirname(file), { recursive: true });
  await Bun.write(file, text);
  console.log(path);
}
