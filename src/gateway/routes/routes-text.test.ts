import { expect, test } from 'bun:test';
import * as fc from 'fast-check';
import { stringify } from 'yaml';
import { parseRoutes, RoutesError } from './routes-text.ts';

const GOOD = `
# a comment
routes:
  - tenant: a
    host: A.k8s.test
    kind: api
    endpoints:
      - 10.0.0.5:6443
      - "[fd00::5]:6443"
    limits: {connections: 10, connectionsPerSecond: 5}
  - {tenant: a, host: a.konnectivity.test, kind: konnectivity, endpoints: []}
`;

async function parseError(text: string): Promise<RoutesError> {
  try {
    await parseRoutes(text, 'routes.yaml');
  } catch (error) {
    if (error instanceof RoutesError) return error;
    throw error;
  }
  throw new Error('the text was accepted');
}

test('reads YAML, in block and in flow style', async () => {
  expect(await parseRoutes(GOOD, 'routes.yaml')).toEqual([
    {
      tenant: 'a',
      host: 'a.k8s.test',
      kind: 'api',
      endpoints: ['10.0.0.5:6443', '[fd00::5]:6443'],
      limits: { connections: 10, connectionsPerSecond: 5 },
    },
    { tenant: 'a', host: 'a.konnectivity.test', kind: 'konnectivity', endpoints: [], limits: {} },
  ]);
});

test('reads JSON', async () => {
  const route = { tenant: 'a', host: 'a.test', kind: 'api', endpoints: ['10.0.0.5:1'], limits: {} };

  for (const indent of [0, 2]) {
    const text = JSON.stringify({ routes: [route] }, null, indent);
    expect(await parseRoutes(text, 'routes.json')).toEqual([route] as never);
  }
});

test('reuses a known route only for an equal entry', async () => {
  const [, known] = await parseRoutes(GOOD, 'routes.yaml');
  const again = async (change: string, by: string) => {
    const text = GOOD.replaceAll(change, by);
    return (
      await parseRoutes(text, 'routes.yaml', (host) => (host === known!.host ? known : undefined))
    )[1];
  };

  expect(await again('', '')).toBe(known);
  for (const [change, by] of [
    ['kind: konnectivity', 'kind: api'],
    ['{tenant: a', '{tenant: b'],
    ['endpoints: []}', "endpoints: ['10.0.0.1:1']}"],
    ['endpoints: []}', 'endpoints: [], limits: {connections: 1}}'],
  ] as const) {
    const route = await again(change, by);
    expect(route).not.toBe(known!);
    expect(route).not.toEqual(known!);
  }
  await expect(again('endpoints: []}', 'endpoints: [], color: red}')).rejects.toThrow("'color'");
});

test.each([
  ['an anchor', 'routes:\n  - &x {tenant: a, host: a.test, kind: api, endpoints: []}\n'],
  ['a tag', 'routes:\n  - {tenant: !!str a, host: a.test, kind: api, endpoints: []}\n'],
  ['an explicit key', 'routes:\n  - {? tenant : a, host: a.test, kind: api, endpoints: []}\n'],
  ['an escape', '{"routes":[{"ten\\u0061nt":"a","host":"a.test","kind":"api","endpoints":[]}]}'],
  ['a document start', '---\nroutes: [{tenant: a, host: a.test, kind: api, endpoints: []}]\n'],
  [
    'a comment like a key',
    'routes: # tenant: b\n- {tenant: a, host: a.test, kind: api, endpoints: []}\n',
  ],
])('reads %s by the exact parser', async (_what, text) => {
  const [route] = await parseRoutes(text, 'routes.yaml');

  expect(route).toMatchObject({ tenant: 'a', host: 'a.test' });
});

test.each([
  ['', "routes.yaml:1:1: the file is empty; write 'routes: []' if there are none"],
  ['# routes:\n', 'routes.yaml:1:1: the file is empty;'],
  ['routes:\n', "routes.yaml:1:8: 'routes' is null; write a list"],
  ['routs: []\n', "routes.yaml:1:1: the file cannot have 'routs'; did you mean 'routes'?"],
  ['routes: [a]\n', 'routes.yaml:1:10: a route is "a"; write a mapping with tenant, host'],
  ['routes:\n- host: a.test\n', "routes.yaml:2:3: 'tenant' is missing; write a name"],
  ['routes:\n- tenant: 1\n', "routes.yaml:2:11: 'tenant' is 1; write a name"],
  [
    entry('host: a..test'),
    'routes.yaml:3:9: \'host\' is "a..test"; not a valid server name (server_name_not_dns)',
  ],
  [entry('host: 10.0.0.1'), 'server_name_ip_literal'],
  [entry('host: a.test.'), 'server_name_trailing_dot'],
  [entry('kind: apis'), 'routes.yaml:4:9: \'kind\' is "apis"; write api or konnectivity'],
  [
    entry('endpoints: [example.com:1]'),
    'routes.yaml:5:15: an endpoint is "example.com:1"; write an IP address and a port',
  ],
  [entry('endpoints: ["10.0.0.5"]'), 'an endpoint is "10.0.0.5"'],
  [entry('endpoints: ["10.0.0.5:0"]'), 'an endpoint is "10.0.0.5:0"'],
  [entry('endpoints: ["fd00::5:6443"]'), 'an endpoint is "fd00::5:6443"'],
  [
    entry('endpoints: ["10.0.0.5:1", "10.0.0.5:1"]'),
    'the endpoint 10.0.0.5:1 is listed twice; remove one (see line 5)',
  ],
  [
    entry('limits: {connections: 0}'),
    "routes.yaml:6:25: 'connections' is 0; write a whole number from 1",
  ],
  [entry('limits: {connections: 1.5}'), "'connections' is 1.5"],
  [entry('limits: {connections: .nan}'), "'connections' is NaN; write a whole number"],
  [entry('limits: {connections: -.inf}'), "'connections' is -Infinity"],
  [entry('limits: {connections: 1e400}'), "'connections' is Infinity"],
  [entry('? [a]\n  : c'), 'routes.yaml:6:5: a list or mapping cannot be a key; write a name'],
  [entry('allowedSources: []'), "'allowedSources' is []; write a list of networks"],
  [entry('allowedSources: [10.0.0.1/8]'), "'10.0.0.1/8' has host bits set"],
  [entry('allowedSources: [7]'), 'an allowed source: 7 is not a string'],
  [
    entry('limits: {conns: 1}'),
    "limits cannot have 'conns'; it may have connections, connectionsPerSecond",
  ],
  [entry('color: red'), "routes.yaml:6:3: a route cannot have 'color'; it may have tenant, host"],
  [
    entry('endpoint: []'),
    "routes.yaml:6:3: a route cannot have 'endpoint'; did you mean 'endpoints'?",
  ],
  [entry('Kind: api'), "did you mean 'kind'?"],
  [entry('hots: a.test'), "a route cannot have 'hots'; it may have"],
])('rejects %p with its position and a fix', async (text, message) => {
  const error = await parseError(text);

  expect(error.message).toContain(message);
  expect(error.code).toBe('routes_invalid');
  expect(error.line).toBeGreaterThan(0);
});

test.each([
  [
    'a merge',
    'routes:\n- {<<: {tenant: a}, host: a.test, kind: api, endpoints: []}\n',
    "cannot have '<<'",
  ],
  [
    'an alias',
    'routes:\n- {tenant: &x a, host: a.test, kind: api, endpoints: []}\n- {tenant: *x, host: b.test}\n',
    "routes.yaml:3:12: '*x' is an alias; write out its value",
  ],
])('rejects %s, which the two parsers read differently', async (_what, text, message) => {
  const error = await parseError(text);

  expect(error.message).toContain(message);
  expect(error.code).toBe('routes_invalid');
});

test.each([
  ['YAML', `routes: ${'['.repeat(200_000)}`],
  ['YAML that is closed', `routes: ${'['.repeat(50_000)}${']'.repeat(50_000)}`],
  ['block lists', `routes:\n${'- '.repeat(50_000)}a\n`],
  ['JSON', `{"routes":${'['.repeat(200_000)}${']'.repeat(200_000)}}`],
])('rejects %s that is nested too deeply', async (_what, text) => {
  const error = await parseError(text);

  expect(error.message).toStartWith('routes.yaml: lists or mappings are nested too deeply');
});

test('rejects a second document with a fix', async () => {
  const { message } = await parseError('routes: []\n---\nroutes: []\n');

  expect(message).toBe(
    'routes.yaml:2:1: the file has a second document; put all routes into the first one',
  );
});

test('reports both lines of a duplicate host, ignoring case', async () => {
  const text = `${entry('host: a.test')}- {tenant: b, host: A.TEST, kind: api, endpoints: []}\n`;

  const { message } = await parseError(text);

  expect(message).toStartWith('routes.yaml:6:21: host a.test is already used by another route');
  expect(message).toEndWith('(see line 3)');
});

test.each([
  ['two equal keys in a mapping', entry('tenant: b'), 6],
  ['two equal keys in JSON', '{"routes":[],\n"routes":[]}', 2],
  ['two equal keys after a comment that looks like a key', `# host:\n${entry('tenant: b')}`, 7],
  [
    'two equal keys, one of them escaped',
    '{"routes":[{"tenant":"a",\n"ten\\u0061nt":"b","host":"a.test","kind":"api","endpoints":[]}]}',
    2,
  ],
  ['a bracket that is never closed', 'routes: [\n', 2],
  ['a tab for an indent', 'routes:\n\t- a\n', 2],
  ['an unknown tag', 'routes:\n- tenant: !x a\n', 2],
  ['two documents', 'routes: []\n---\nroutes: []\n', 2],
])('rejects %s, with the line', async (_what, text, line) => {
  const error = await parseError(text);

  expect(error.code).toBe('routes_syntax');
  expect(error.line).toBe(line);
});

test('reads the output of the yaml package, with any tenant names', async () => {
  const route = fc.record({
    tenant: fc.string({ minLength: 1, maxLength: 20, unit: 'grapheme' }),
    kind: fc.constantFrom('api', 'konnectivity'),
    endpoints: fc.uniqueArray(
      fc.ipV4().map((address) => `${address}:6443`),
      { maxLength: 3 },
    ),
    limits: fc.record({ connections: fc.integer({ min: 1, max: 1e6 }) }, { requiredKeys: [] }),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(route, { maxLength: 5 }), async (parts) => {
      const routes = parts.map((part, index) => ({ ...part, host: `h${index}.test` }));

      expect(await parseRoutes(stringify({ routes }), 'f')).toEqual(routes as never);
      expect(await parseRoutes(JSON.stringify({ routes }), 'f')).toEqual(routes as never);
    }),
    { numRuns: 300 },
  );
});

/** Returns a route on lines 2 to 5. The given line replaces the line with the same key, or follows as line 6. */
function entry(line: string): string {
  const lines = ['tenant: a', 'host: a.test', 'kind: api', 'endpoints: []'];
  const key = line.slice(0, line.indexOf(':'));
  const at = lines.findIndex((known) => known.startsWith(`${key}:`) && key !== 'tenant');
  if (at < 0) lines.push(line);
  else lines[at] = line;
  return `routes:\n- ${lines.join('\n  ')}\n`;
}
