import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import type { KubeClient } from '../../kube/client/client.ts';
import { RESOURCES } from '../../kube/resource.ts';
import type { TestApiServer } from '../../kube/testing/api-server.ts';
import { until } from '../../operator/testing/until.ts';
import type { Terminal } from '../testing/snicket.ts';
import { READY, StatusCluster } from '../testing/status-cluster.ts';

setDefaultTimeout(240_000);

let cluster: StatusCluster;
let server: TestApiServer;
let client: KubeClient;
let terminal: Terminal;
beforeAll(async () => {
  cluster = await StatusCluster.start();
  ({ server, client, terminal } = cluster);
});
afterAll(async () => cluster[Symbol.asyncDispose]());

describe('--watch', () => {
  test('redraws a terminal, recovers after an outage of the API server, and restores the terminal', async () => {
    cluster.addExposure('other/white');
    const session = terminal.open(['status', '-n', 'other', '--watch'], 120);
    const lastFrame = () => Bun.stripANSI(session.text.split('\u001B[H').at(-1) ?? '');
    await until('white is shown', () => /white .*NotObserved/.test(lastFrame()));
    await server.goDown();
    await until('that is said', () => lastFrame().startsWith('Outdated since '));
    await server.comeUp();

    await cluster.report('Exposure', 'other/white', READY);

    await until('white is ready', () => /white .*True/.test(lastFrame()));
    expect(lastFrame()).toStartWith('EDGE');
    session.type('\u0003');
    expect(await session.ended).toBe(0);
    expect(session.text).toStartWith('\u001B[?1049h\u001B[?25l');
    expect(session.text).toEndWith('\u001B[?25h\u001B[?1049l');
    // The screen is not cleared before it is drawn.
    expect(session.text).not.toContain('\u001B[2J');
    expect(await client.delete(RESOURCES.exposure, { name: 'white', namespace: 'other' })).toBe(
      true,
    );
  });

  test('shows the problem of an Exposure and its fix on a small screen', async () => {
    const session = terminal.begin(['status', 'red', '--watch'], 80);
    const lastFrame = () => Bun.stripANSI(session.text.split('\u001B[H').at(-1) ?? '');

    await until('red is shown', () => lastFrame().includes('tenants/red'));

    expect(lastFrame()).toStartWith('DnsNoAnswer (hop dns, Reachable, Ready)');
    expect(lastFrame()).toContain('To do: Add a DNS record');
    expect(lastFrame()).not.toContain('more lines');
    session.signal('SIGINT');
    expect(await session.ended).toBe(1);
  });

  test('restores the terminal while it is stopped', async () => {
    const left = '\u001B[?25h\u001B[?1049l';
    const session = terminal.open(['status', '-n', 'other', '--watch'], 120);
    await until('green is shown', () => session.text.includes('green'));

    session.type('\u001A');
    await until('it leaves', () => session.text.includes(left));
    await until('it is back', () => {
      session.resume(); // has no effect before the program has stopped
      return (session.text.split(left)[1] ?? '').includes('green');
    });

    session.type('\u0003');
    expect(await session.ended).toBe(0);
    expect(session.text).toEndWith(left);
  });

  test('restores the terminal after Ctrl-\\', async () => {
    const session = terminal.begin(['status', '-n', 'other', '--watch'], 120);
    await until('green is shown', () => session.text.includes('green'));

    session.signal('SIGQUIT');

    expect(await session.ended).toBe(0);
    expect(session.text).toEndWith('\u001B[?25h\u001B[?1049l');
  });

  test('prints lines on a dumb terminal', async () => {
    const session = terminal.begin(['status', '-n', 'other', '--watch'], 120, { TERM: 'dumb' });
    await until('green is told', () => session.text.includes('Exposure other/green: Ready=True'));

    session.signal('SIGINT');

    expect(await session.ended).toBe(0);
    expect(session.text).not.toContain('\u001B');
  });

  test('prints a line for each change without a terminal', async () => {
    const running = terminal.begin(['status', '-n', 'other', '--watch']);
    await until('green is told', () => running.text.includes('Exposure other/green: Ready=True'));
    cluster.addExposure('other/black');
    await until('black is told', () =>
      running.text.includes('Exposure other/black: Ready=Unknown'),
    );

    await client.delete(RESOURCES.exposure, { name: 'black', namespace: 'other' });

    await until('black is gone', () => running.text.includes('Exposure other/black: deleted'));
    running.signal('SIGINT');
    expect(await running.ended).toBe(0);
    expect(running.text.match(/Exposure other\/green/g)).toHaveLength(1);
    expect(running.text).toMatch(/^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ /);
    expect(running.text).not.toContain('\u001B');
  });

  test('rejects -o json', async () => {
    const { exitCode, stderr } = await terminal.snicket(['status', '--watch', '-o', 'json']);

    expect(stderr).toContain('kubectl get exposures --watch -o json');
    expect(exitCode).toBe(2);
  });

  test('rejects -o json for a folder, and names the status file', async () => {
    const args = ['status', '--watch', '-o', 'json', '--state', 'st'];

    const { exitCode, stderr } = await terminal.snicket(args);

    expect(stderr).toContain(
      'error: --watch does not support -o json\nhint: remove one of them; for programs: status.yaml in st, which is rewritten at every change',
    );
    expect(stderr).not.toContain('kubectl');
    expect(exitCode).toBe(2);
  });
});
