/**
 * The operator as a process: leader election, health and signals around {@link Operator}.
 */
import { systemClock } from '../clock/clock.ts';
import { formatListenAddress, type ListenAddress } from '../net/listen-address.ts';
import { CannotListen, listenOnAll } from '../net/listen-all.ts';
import type { KubeClient } from '../kube/client/client.ts';
import { LeaderElection } from '../kube/election/leader-election.ts';
import { keyText } from '../kube/object.ts';
import { serveHttp, type HttpServer } from '../telemetry/http.ts';
import type { Logger } from '../telemetry/log.ts';
import { Operator, type OperatorOptions } from './operator.ts';
import { logReadiness } from './readiness.ts';

/** Options of {@link runOperator}. */
export interface RunOperatorOptions extends Omit<OperatorOptions, 'client' | 'log'> {
  /** The addresses for health and metrics. Empty: they are not served. */
  readonly http: readonly ListenAddress[];
  /** Whether replicas elect a leader, and only the leader works. */
  readonly leaderElect: boolean;
}

/** The Lease for leader election. */
export const LEASE_NAME = 'snicket-operator';

/** An operator that works only while it is the leader. */
interface ElectedOperator {
  readonly operator: Operator;
  readonly election: LeaderElection;
  /**
   * Waits until this replica leads, and works until the signal aborts. @throws Error if it loses the Lease: its process exits,
   * so that the next one starts without state
   */
  readonly run: (signal: AbortSignal) => Promise<void>;
}

/** Creates an operator that takes part in leader election, and writes to no cluster unless it leads. */
export function electedOperator(options: OperatorOptions): ElectedOperator {
  const { client, namespace, identity, log, clock } = options;
  const lease = { namespace, name: LEASE_NAME };
  const election = new LeaderElection({ client, identity, logger: log, lease, clock });
  const operator = new Operator({
    ...options,
    client: election.leaderClient(),
    mayWrite: () => election.mayWrite && options.mayWrite?.() !== false,
  });
  const run = async (signal: AbortSignal) => {
    const lead = async (leading: AbortSignal) => {
      await operator.run(leading);
      if (!signal.aborted) throw new Error(`lost the Lease ${keyText(lease)}`);
    };
    await election.run(lead, signal);
  };
  return { operator, election, run };
}

/** Runs until SIGTERM or SIGINT, and returns the exit code. */
export async function runOperator(
  client: KubeClient,
  options: RunOperatorOptions,
  log: Logger,
): Promise<number> {
  const ended = new AbortController();
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      if (ended.signal.aborted) process.exit(0); // the second signal
      ended.abort();
    });
  }
  const elected = options.leaderElect ? electedOperator({ ...options, client, log }) : undefined;
  const operator = elected?.operator ?? new Operator({ ...options, client, log });
  const notReady = () => notReadyIn(operator, elected?.election);
  const servers: HttpServer[] = [];
  const stopLogging = logReadiness({ notReady, log, clock: systemClock });
  try {
    serveHealth(operator, notReady, options.http, servers, log);
    await (elected ?? operator).run(ended.signal);
    log.info('operator stopped');
    return 0;
  } catch (error) {
    if (ended.signal.aborted) return 0;
    log.error('operator failed', { error });
    return 1;
  } finally {
    stopLogging();
    for (const server of servers) server.stop();
  }
}

/** A standby replica is ready as long as the API server answers its requests for the Lease. */
function notReadyIn(operator: Operator, election: LeaderElection | undefined): string | undefined {
  const isStandby = election !== undefined && !election.isLeader;
  return isStandby ? election.unanswered : operator.notReady();
}

function serveHealth(
  { metrics }: Operator,
  notReady: () => string | undefined,
  addresses: readonly ListenAddress[],
  servers: HttpServer[],
  log: Logger,
): void {
  const listen = (at: ListenAddress) => {
    servers.push(serveHttp({ ...at, metrics, notReady }));
  };
  try {
    listenOnAll({ listen }, addresses, ({ message }) =>
      log.warn(`${message}; serving IPv4 only, because this machine has no IPv6`),
    );
  } catch (error) {
    if (!(error instanceof CannotListen)) throw error;
    const address = formatListenAddress(error.at);
    throw new Error(
      `cannot serve HTTP on ${address}: ${error.code}; choose another address with --http`,
      {
        cause: error,
      },
    );
  }
}
