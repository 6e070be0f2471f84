/**
 * For tests only: the environments of labs.
 */
import { systemClock, type Clock } from '../../clock/clock.ts';
import { DrivenClock } from '../../clock/testing/driven-clock.ts';
import { OutsideWork } from '../../clock/testing/outside-work.ts';
import type { ClusterAccess } from '../../kube/access/cluster-access.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import { TENANT_LIMITS } from '../../kube/client/client-limits.ts';
import { createClient } from '../../kube/client/fetch-client.ts';
import type { Resource } from '../../kube/resource.ts';
import { TestApiServer } from '../../kube/testing/api-server.ts';
import {
  MemoryApiServer,
  refused,
  type Serving,
} from '../../kube/testing/memory/memory-api-server.ts';
import { MemoryNetwork } from '../../kube/testing/memory/memory-network.ts';
import type { TestCluster } from '../../kube/testing/test-cluster.ts';
import { countCrypto } from '../../pki/testing/crypto-work.ts';
import { probeExposure } from '../../probe/probe-exposure.ts';
import type { OperatorOptions } from '../operator.ts';
import type { Probe } from '../probe-scheduler.ts';
import { until } from './until.ts';

/** Options for a cluster of a lab. */
export interface LabCluster {
  readonly resources?: readonly Resource[];
  readonly serving?: Serving;
}

/** The environment of a lab: its clusters and its clock. */
export interface LabEnvironment {
  readonly clock: Clock;
  /** Options of operators in this environment. */
  readonly operatorOptions: Pick<
    OperatorOptions,
    'clock' | 'connectTenant' | 'probe' | 'monitorsEventLoop'
  >;
  start(cluster: LabCluster): Promise<TestCluster>;
  /** Waits until something holds, and returns it. */
  until<T>(state: string, observe: () => T | undefined | false): Promise<T>;
  /** Waits until a promise settles, and returns its value. */
  settled<T>(state: string, work: Promise<T>): Promise<T>;
  /** Lets this much time pass. */
  pass(ms: number): Promise<void>;
}

/**
 * In this process, with a clock that advances whenever there is no work.
 *
 * @param hasSockets - Whether clusters also listen on loopback, for probes and for a gateway. Otherwise there is no edge, and probes
 * fail.
 */
export function memoryEnvironment(hasSockets: boolean): LabEnvironment {
  const work = new OutsideWork();
  countCrypto(work);
  const clock = new DrivenClock(work);
  const network = new MemoryNetwork();
  const connectTenant = (access: ClusterAccess): KubeClient =>
    createClient(access, {
      limits: TENANT_LIMITS,
      clock,
      roundTripper: network.roundTripper(access),
    });
  // The clock stands still during a probe, so the probe uses the system clock.
  const probe: Probe = async (target, options) =>
    hasSockets
      ? work.during(probeExposure(target, { ...options, clock: systemClock }))
      : probeExposure(target, { ...options, dial: async () => Promise.reject(refused()) });
  return {
    clock,
    // Its timer would keep the clock advancing.
    operatorOptions: { clock, connectTenant, probe, monitorsEventLoop: false },
    start: async (cluster) => {
      const server = await MemoryApiServer.start({ clock, hasTls: hasSockets, ...cluster });
      network.add(server);
      return server;
    },
    until: async (state, observe) => clock.until(state, observe),
    settled: async (state, work) => clock.settled(state, work),
    pass: async (ms) => clock.pass(ms),
  };
}

/** On loopback, with TLS and the system clock. */
export function tlsEnvironment(): LabEnvironment {
  return {
    clock: systemClock,
    operatorOptions: {},
    start: async (cluster) => TestApiServer.start(cluster),
    until,
    settled: async (_what, work) => work,
    pass: async (ms) => Bun.sleep(ms),
  };
}
