/**
 * `make demo`: the problem that Snicket solves, and the solution, on real TLS sockets of this machine. It has two small
 * control planes, one address for both and a worker of each, and prints commands to try. Needs npm only, and no root.
 */
import { processIo } from '../src/cli/io/process-io.ts';
import { withProgress } from '../src/cli/output/progress.ts';
import * as claims from './claims.ts';
import * as commands from './commands.ts';
import { examine } from './doctor.ts';
import { faultsOf, inOrder, rowsOf } from './finding.ts';
import { play } from './play.ts';
import { startStage } from './stage/stage.ts';

const io = processIo();
await play(async ({ page, signal, stack, staysUp }) => {
  page.heading('Two hosted control planes behind one address');
  const stage = await withProgress(io, 'starting', startStage(stack, signal));
  const { edge, workers, folder, broken } = stage;
  const [a, b] = workers;
  page.table(
    ['WHAT', 'WHERE'],
    [
      ...workers.map(({ tenant }) => [
        ...[`control plane of tenant ${tenant.name}, with a CA of its own`, tenant.apiServer],
      ]),
      ['snicket run: the one address for both', `127.0.0.1:${edge.port}`],
      ...workers.map(({ tenant, port }) => [
        ...[`snicket proxy: on a worker of tenant ${tenant.name}`, `127.0.0.1:${port}`],
      ]),
    ],
  );
  const exposed = Promise.all([stage.expose(a, 'Terminate'), stage.expose(b, 'Passthrough')]);
  await withProgress(io, 'waiting for the proxies', exposed);

  page.heading('The problem');
  page.text(`The shared address tells tenants apart by the name in the TLS hello. Pods dial
10.96.0.1: their hello has no name, and nobody can say whose they are.`);
  const problem = await claims.problem([a.tenant, b.tenant], edge.port);
  page.table(claims.PROBLEM_HEADINGS, rowsOf(problem));

  page.heading('The solution');
  page.text(`A proxy on the worker takes what pods send to 10.96.0.1, and carries it to the
shared address under the tenant's name: in a signed header (Passthrough), or by
a TLS connection of its own (Terminate), which works with edges of others too,
but cannot pass on the certificate of a client.`);
  const inOneMode = await claims.solution(workers);
  await Promise.all([stage.expose(a, 'Passthrough'), stage.expose(b, 'Terminate')]);
  const inTheOther = await claims.solution(workers);
  const solution = [...inOneMode, ...inTheOther];
  page.table(claims.SOLUTION_HEADINGS, rowsOf(inOrder(solution)));

  page.heading('What snicket run was told, besides a file for tenant b');
  for (const name of ['tenants/edge.yaml', 'tenants/a.yaml']) page.file(name, folder.read(name));

  page.heading('What the doctor says');
  page.text('');
  const illnesses = await examine(folder);

  page.heading(staysUp ? 'Try it, in another terminal' : 'In a terminal the demo stays up, to try');
  if (Bun.which('kubectl') === null) {
    page.text('kubectl is not on the PATH here; what is done with curl does without it.');
  }
  for (const one of commands.prepare(stage)) page.command(one);

  return { faults: [...faultsOf([...problem, ...solution]), ...illnesses], broken };
});
