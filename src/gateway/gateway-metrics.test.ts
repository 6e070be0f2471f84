import { expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { GatewayLab } from './testing/lab.ts';

test('exposes exactly the metrics that docs/reference/gateway-metrics.md lists, with their types', async () => {
  await using lab = await GatewayLab.start({ accessLog: 'access.log', keys: '' });
  const docs = readFileSync(
    join(import.meta.dir, '../../docs/reference/gateway-metrics.md'),
    'utf8',
  );

  const page = await (await lab.get('/metrics')).text();
  const exposed = [...page.matchAll(/^# TYPE snicket_gateway_(\w+) (\w+)$/gm)];
  const documented = [
    ...docs.matchAll(/^\| `(\w+)(?:\{[^}]*\})?` \| (counter|gauge|histogram|summary) \|/gm),
  ];

  const pairs = (matches: RegExpExecArray[]) => matches.map(([, name, type]) => `${name} ${type}`);
  expect(pairs(exposed)).toEqual(pairs(documented));
});

test('exposes the engine of each thread and the reason for a fallback', async () => {
  await using lab = await GatewayLab.start({ engine: 'bun', workers: 2 });

  for (const thread of ['0', '1']) {
    const labels = `thread="${thread}",engine="bun",fallback_reason=""`;
    expect(lab.number('engine_info', labels)).toBe(1);
  }
});
