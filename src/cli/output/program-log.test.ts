import { expect, test } from 'bun:test';
import { until } from '../../operator/testing/until.ts';
import { Terminal } from '../testing/snicket.ts';

const FREE = ['--grace', '0', '--drain', '0', '--listen', '127.0.0.1:0', '--http', '127.0.0.1:0'];

test('a gateway logs text on a terminal', async () => {
  using terminal = new Terminal();
  terminal.write('routes.yaml', 'routes: []\n');
  const args = ['gateway', '--routes', 'routes.yaml', ...FREE];

  const session = terminal.open(args, 80, { NO_COLOR: '1' });
  await until('it accepts', () => session.text.includes('accepting connections'));
  session.type('\u0003');
  await session.ended;

  expect(session.text).toMatch(/^\d\d:\d\d:\d\d {2}info {3}accepting connections {2}listen=/m);
});
