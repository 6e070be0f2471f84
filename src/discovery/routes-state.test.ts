import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Route } from '../gateway/routes/route.ts';
import { readRoutesState, writeRoutesState } from './routes-state.ts';

const ROUTES: readonly Route[] = [
  {
    tenant: 'tenants/blue',
    host: 'blue.example.test',
    kind: 'api',
    limits: {},
    endpoints: ['10.0.0.1:6443', '[fd00::1]:6443'],
  },
  {
    tenant: 'tenants/blue',
    host: 'agents.example.test',
    kind: 'konnectivity',
    limits: {},
    endpoints: [],
  },
];

describe('stored routes', () => {
  let folder = '';
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'snicket-state-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  test('are read as they were written', async () => {
    const path = join(folder, 'deep', 'routes.json');

    writeRoutesState(path, ROUTES);

    expect(await readRoutesState(path)).toEqual(ROUTES);
  });

  test('can be read even if one of them allows no source', async () => {
    const path = join(folder, 'routes.json');
    const closed: Route = { ...ROUTES[0]!, host: 'closed.example.test', allowedSources: [] };

    writeRoutesState(path, [...ROUTES, closed]);

    expect(await readRoutesState(path)).toEqual(ROUTES);
  });

  test('can be an empty list', async () => {
    const path = join(folder, 'routes.json');

    writeRoutesState(path, []);

    expect(await readRoutesState(path)).toEqual([]);
    expect(await readRoutesState(join(folder, 'absent.json'))).toBeUndefined();
  });

  test('replace the previous ones atomically, in a file that only its owner can read', () => {
    const path = join(folder, 'routes.json');
    writeRoutesState(path, ROUTES);

    writeRoutesState(path, ROUTES.slice(1));

    expect(readdirSync(folder)).toEqual(['routes.json']);
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  test('that are invalid are an error', async () => {
    const path = join(folder, 'routes.json');
    writeFileSync(path, '{"routes": [{');

    expect(readRoutesState(path)).rejects.toThrow(path);
    expect(readRoutesState(folder)).rejects.toThrow();
  });
});
