import { expect, test } from 'bun:test';
import { MemoryResponse } from './memory-response.ts';

/** Returns a response with a head and its first bytes. */
function begun(): MemoryResponse {
  const response = new MemoryResponse();
  response.begin(200, {});
  response.write('first');
  return response;
}

test('returns the written bytes, and then its end', async () => {
  const response = begun();
  response.end('last');

  expect(String(await response.read())).toBe('first');
  expect(String(await response.read())).toBe('last');
  expect(await response.read()).toBeUndefined();
});

test('that is reset stays broken after its server ends it', async () => {
  const response = begun();
  response.reset();

  response.end('last');

  await expect(response.read()).rejects.toMatchObject({ code: 'ECONNRESET' });
});

test('that is reset after a write returns the written bytes, and then the error', async () => {
  const response = begun();
  response.resetSoon();

  response.end('last');

  expect(String(await response.read())).toBe('first');
  await expect(response.read()).rejects.toMatchObject({ code: 'ECONNRESET' });
});
