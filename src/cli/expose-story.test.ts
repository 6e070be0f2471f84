import { expect, setDefaultTimeout, test } from 'bun:test';
import { until } from '../operator/testing/until.ts';
import { addKamaji, startProvidedLab } from '../operator/testing/provided-lab.ts';
import { Terminal } from './testing/snicket.ts';

setDefaultTimeout(240_000);

test('a user exposes a control plane with one command, and sees it become Ready and then fail', async () => {
  // 1. An operator and a gateway, and a tenant of Kamaji with a worker. Without konnectivity, which the small API
  // server does not have.
  await using lab = await startProvidedLab({ transport: 'tls', hasGateway: true, probeMs: 50 });
  await lab.applyEdge({}, 'shared', { 'snicket.dev/is-default': 'true' });
  const without = { 'spec.addons.konnectivity': undefined };
  const { controllers } = await addKamaji(lab, 'blue', without);
  await controllers.addNode('worker-1', ['10.0.0.1']);
  using terminal = new Terminal(lab.management);

  // 2. Only its name has to be given.
  const exposed = await terminal.snicket(['expose', 'blue', '--wait', '--timeout', '120s']);

  expect(exposed.stderr).toMatch(/\d+s {2}Ready\n$/);
  expect(exposed.stdout).toStartWith('exposure.snicket.dev/blue created\n');
  expect(exposed.stdout).not.toContain('\nKonnectivity ');
  expect(exposed.exitCode).toBe(0);

  // 3. All is healthy, except the operator, which runs in no cluster here.
  const { stdout } = await terminal.snicket(['status', 'blue']);

  expect(stdout).toMatch(/^Ready +True$/m);
  expect(stdout).toMatch(/^api +Pass +Passed +\d+s$/m);
  expect(stdout).not.toContain('To do');
  expect(stdout).toContain('Operator: not found in namespace snicket-system');

  // 4. The watch shows that the edge fails.
  const session = terminal.begin(['status', '--watch'], 120);
  const frame = () => Bun.stripANSI(session.text.split('\u001B[H').at(-1) ?? '');
  await until('it is shown', () => /blue .* True/.test(frame()));
  await lab.applyEdge({ port: 1 }, 'shared', { 'snicket.dev/is-default': 'true' });
  await until('it is shown to fall', () => /blue .* False +\w+/.test(frame()));
  session.signal('SIGINT');
  expect(await session.ended).toBe(1);
});
