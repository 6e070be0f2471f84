import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { chmodSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import { ManualClock } from '../../clock/manual-clock.ts';
import type { Credentials } from '../access/cluster-access.ts';
import { errorOf, tokenOf, TransportLab, VERSION } from './testing/lab.ts';

let lab: TransportLab;

beforeEach(async () => {
  lab = await TransportLab.open();
});

afterEach(async () => lab[Symbol.asyncDispose]());

describe('a token file', () => {
  let path: string;
  let credentials: Credentials;

  beforeEach(() => {
    path = join(lab.folder, 'token');
    credentials = { kind: 'token-file', path };
    writeFileSync(path, 'first\n');
  });

  test('is re-read after a minute', async () => {
    const clock = new ManualClock();
    const transport = lab.transport({ credentials }, { clock });

    await transport.json(VERSION);
    writeFileSync(path, 'second\n');
    await transport.json(VERSION);
    clock.advance(60_000);
    await transport.json(VERSION);

    expect(lab.server.exchanges.map(tokenOf)).toEqual(['first', 'first', 'second']);
  });

  test('is re-read at once when the server rejects the token', async () => {
    lab.server.script = (exchange) =>
      tokenOf(exchange) === 'second'
        ? exchange.respond(200, { ok: true })
        : exchange.respond(401, { kind: 'Status', message: 'Unauthorized' });
    const transport = lab.transport({ credentials });
    await errorOf(transport.json(VERSION));
    writeFileSync(path, 'second');

    expect(await transport.json(VERSION)).toEqual({ ok: true });
    expect(lab.server.exchanges.map(tokenOf)).toEqual(['first', 'first', 'second']);
  });

  test('may be a link that is replaced, as in a volume', async () => {
    const volume = join(lab.folder, 'volume');
    const clock = new ManualClock();
    symlinkSync(path, volume);
    const transport = lab.transport(
      { credentials: { kind: 'token-file', path: volume } },
      { clock },
    );
    await transport.json(VERSION);

    writeFileSync(join(lab.folder, 'new'), 'second');
    symlinkSync(join(lab.folder, 'new'), join(lab.folder, 'swap'));
    await rename(join(lab.folder, 'swap'), volume);
    clock.advance(60_000);
    await transport.json(VERSION);

    expect(lab.server.exchanges.map(tokenOf)).toEqual(['first', 'second']);
  });

  test.each([
    ['is missing', () => rmSync(path), /ENOENT/],
    ['is empty', () => writeFileSync(path, ' \n'), /is empty; write a token into it/],
    ['has two lines', () => writeFileSync(path, 'one\r\nx-two: 2\n'), /token with line breaks/],
    // Truncated to a byte, this is a line break too.
    [
      'is not ASCII',
      () => writeFileSync(path, 'one\u010ax-two: 2'),
      /control characters or non-ASCII characters/,
    ],
  ])('that %s is an error, and nothing is sent', async (_, change, sentence) => {
    change();

    const error = await errorOf(lab.transport({ credentials }).json(VERSION));

    expect(error.reason).toBe('Unauthorized');
    expect(error.message).toMatch(sentence);
    expect(lab.server.exchanges).toHaveLength(0);
  });
});

describe('a credential plugin', () => {
  const EXPIRES_MS = Date.UTC(2030, 0, 1);
  const clockBefore = (ms: number) => new ManualClock(new Date(EXPIRES_MS - ms));

  /** Returns a plugin that counts its runs in a file, and prints a token with that number. */
  function login(lines = ''): Credentials {
    const command = join(lab.folder, 'login');
    const status = '{"token":"token-%s","expirationTimestamp":"2030-01-01T00:00:00Z"}';
    const credential = `{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":${status}}`;
    writeFileSync(
      command,
      `#!/bin/sh\n${lines}\necho x >> ${lab.folder}/runs\nprintf '${credential}' "$(wc -l < ${lab.folder}/runs | tr -d ' ')"\n`,
    );
    chmodSync(command, 0o755);
    const apiVersion = 'client.authentication.k8s.io/v1';
    const plugin = { apiVersion, command, args: [], env: {}, provideClusterInfo: false };
    return { kind: 'exec', plugin };
  }

  const runs = () => readFileSync(join(lab.folder, 'runs'), 'utf8').split('\n').length - 1;

  test('runs once for many requests, including concurrent ones', async () => {
    const transport = lab.transport({ credentials: login() }, { clock: clockBefore(60_000) });

    await Promise.all([transport.json(VERSION), transport.json(VERSION), transport.json(VERSION)]);
    await transport.json(VERSION);

    expect(lab.server.exchanges.map(tokenOf)).toEqual(Array(4).fill('token-1'));
    expect(runs()).toBe(1);
  });

  test('runs again shortly before the credentials expire', async () => {
    const clock = clockBefore(60_000);
    const transport = lab.transport({ credentials: login() }, { clock });

    await transport.json(VERSION);
    clock.advance(50_000);
    await transport.json(VERSION);

    expect(lab.server.exchanges.map(tokenOf)).toEqual(['token-1', 'token-2']);
  });

  test('runs again once when the server rejects the credentials', async () => {
    lab.server.script = (exchange) => exchange.respond(401, { kind: 'Status', message: 'who?' });
    const transport = lab.transport({ credentials: login() }, { clock: clockBefore(60_000) });

    const error = await errorOf(transport.json(VERSION));

    expect(error).toMatchObject({ reason: 'Unauthorized', status: 401 });
    expect(lab.server.exchanges.map(tokenOf)).toEqual(['token-1', 'token-2']);
  });

  test('that fails is named in the error', async () => {
    const credentials = login('echo no session >&2; exit 1');

    const error = await errorOf(lab.transport({ credentials }).json(VERSION));

    expect(error.reason).toBe('Unauthorized');
    expect(error.message).toMatch(/^GET \/version at https:.*login exited with 1: no session$/);
  });

  test('that prints another certificate changes the connection', async () => {
    const [first, second] = await Promise.all(
      ['first', 'second'].map(async (commonName) => lab.authority.issue({ commonName })),
    );
    const certificates = [first!, second!].map(({ cert, key }) => ({
      apiVersion: 'client.authentication.k8s.io/v1',
      kind: 'ExecCredential',
      status: {
        clientCertificateData: cert,
        clientKeyData: key,
        expirationTimestamp: '2030-01-01T00:00:00Z',
      },
    }));
    writeFileSync(join(lab.folder, 'now'), JSON.stringify(certificates[0]));
    const apiVersion = 'client.authentication.k8s.io/v1';
    const plugin = {
      apiVersion,
      command: 'cat',
      args: [join(lab.folder, 'now')],
      env: {},
      provideClusterInfo: false,
    };
    await using mutual = await lab.mutualServer();
    const clock = clockBefore(60_000);
    const transport = lab.transport(
      { server: mutual.url, credentials: { kind: 'exec', plugin } },
      { clock },
    );

    await transport.json(VERSION);
    writeFileSync(join(lab.folder, 'now'), JSON.stringify(certificates[1]));
    clock.advance(60_000);
    await transport.json(VERSION);

    expect(mutual.exchanges.map(({ peer }) => peer)).toEqual(['first', 'second']);
  });
});
