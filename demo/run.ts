/**
 * `make demo`: the problem that Snicket solves and the solution, on real TLS sockets of this machine. It runs two small
 * control planes, one shared address and a worker of each tenant, and prints commands to try. Needs only npm, no root.
 */
import { processIo } from '../src/cli/io/process-io.ts';
import { withProgress } from '../src/cli/output/progress.ts';
import * as claims from './claims.ts';
import * as commands from './commands.ts';
import { runChecks } from './doctor.ts';
import { failuresOf, inOrder, rowsOf } from './finding.ts';
import { play, TRY_IT, TRY_IT_ON_A_TERMINAL } from './play.ts';
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
        ...[`control plane of tenant ${tenant.name}, with its own CA`, tenant.apiServer],
      ]),
      ['snicket run: the shared address', `127.0.0.1:${edge.port}`],
      ...workers.map(({ tenant, port }) => [
        ...[`snicket proxy on the worker of tenant ${tenant.name}`, `127.0.0.1:${port}`],
      ]),
    ],
  );
  const exposed = Promise.all([stage.expose(a, 'Terminate'), stage.expose(b, 'Passthrough')]);
  await withProgress(io, 'waiting for the proxies', exposed);

  page.heading('The problem');
  page.text(`The shared address selects the tenant by the server name (SNI) in the TLS
ClientHello. Pods connect to 10.96.0.1. Their ClientHello has no server name,
so they cannot be routed to their tenant.`);
  const problem = await claims.proveProblem([a.tenant, b.tenant], edge.port);
  page.table(claims.PROBLEM_HEADINGS, rowsOf(problem));

  page.heading('The solution');
  page.text(`A proxy on each worker forwards connections for 10.96.0.1 to the shared address,
with the name of the tenant. In mode Passthrough, it sends the name in a signed
header in front of the pod's own TLS. In mode Terminate, it opens its own TLS
connection: this works with any edge, but client certificates of pods are lost.`);
  const firstModes = await claims.proveSolution(workers);
  await Promise.all([stage.expose(a, 'Passthrough'), stage.expose(b, 'Terminate')]);
  const swappedModes = await claims.proveSolution(workers);
  const solution = [...firstModes, ...swappedModes];
  page.table(claims.SOLUTION_HEADINGS, rowsOf(inOrder(solution)));

  page.heading('Configuration: the Edge, and the Exposure of tenant a');
  for (const name of ['tenants/edge.yaml', 'tenants/a.yaml']) page.file(name, folder.read(name));

  page.heading('Checks: snicket doctor');
  page.text('');
  const problems = await runChecks(folder);

  if (staysUp) {
    page.heading(TRY_IT);
    if (Bun.which('kubectl') === null) {
      page.text('kubectl is not on the PATH. The curl commands work without it.');
    }
    for (const command of commands.prepare(stage)) page.command(command);
  } else {
    page.text(TRY_IT_ON_A_TERMINAL);
  }

  return { failures: [...failuresOf([...problem, ...solution]), ...problems], broken };
});
