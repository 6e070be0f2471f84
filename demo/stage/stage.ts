import type { WorkerMode } from '../../src/api/worker.ts';
import { startEdge, writeTenantFile, type Edge } from './edge.ts';
import { DemoFolder } from './folder.ts';
import { startTenant } from './tenant.ts';
import { Worker } from './worker.ts';

/** All running programs: two control planes, the shared address in front of them, and a worker of each tenant. */
export interface Stage {
  readonly folder: DemoFolder;
  readonly edge: Edge;
  /** Workers of tenant a and tenant b. */
  readonly workers: readonly [Worker, Worker];
  /** Exposes the tenant of a worker, or changes its mode. Resolves when its proxy is ready. */
  expose(worker: Worker, mode: WorkerMode): Promise<void>;
  /** Resolves with a sentence when one of the programs has ended. */
  readonly broken: Promise<string>;
}

/** Starts everything, which stops with the stack. No tenant is exposed yet. */
export async function startStage(stack: AsyncDisposableStack, signal: AbortSignal): Promise<Stage> {
  const folder = stack.use(new DemoFolder());
  const edge = await startEdge(folder, stack, signal);
  const startWorker = async (name: string) => {
    const tenant = await startTenant(name, folder, stack);
    return stack.use(await Worker.start(tenant, folder));
  };
  const workers = [await startWorker('a'), await startWorker('b')] as const;
  return {
    folder,
    edge,
    workers,
    expose: async (worker, mode) => {
      writeTenantFile(worker.tenant, mode, folder);
      await worker.runs(mode, signal);
    },
    broken: Promise.race([edge.program, ...workers].map(async (program) => program.ended())),
  };
}
