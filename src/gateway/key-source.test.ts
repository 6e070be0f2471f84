import { expect, test } from 'bun:test';
import { unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { MASTER_KEY } from './testing/headers.ts';
import { GatewayLab, until } from './testing/lab.ts';

function errors(lab: GatewayLab) {
  return lab.log.filter(({ level }) => level === 'error').map(({ msg }) => String(msg));
}

test('is not ready if the key file cannot be loaded', async () => {
  await using lab = await GatewayLab.start({ keyFile: '/nowhere/keys' });

  const readiness = await lab.get('/readyz');

  expect(readiness.status).toBe(503);
  expect(await readiness.text()).toContain('the key file cannot be loaded (ENOENT');
  expect(errors(lab)).toEqual(['cannot load key file, rejecting all signed headers']);
});

test('keeps its keys and stays ready when the key file is deleted', async () => {
  await using lab = await GatewayLab.start({ keys: `${MASTER_KEY.toString('base64')}\n` });

  unlinkSync(join(lab.folder, 'keys'));
  await until(() => errors(lab).length > 0, 'the report');

  expect(errors(lab)).toEqual(['cannot load key file, keeping the previous keys']);
  expect((await lab.get('/readyz')).status).toBe(200);
});
