/**
 * Probes the paths of clients to the tenants of Exposures.
 */
import type { ExposureStatus, Hop } from '../../api/exposure.ts';
import type { KubeObject } from '../../kube/object.ts';
import type { StatusWriter } from '../../kube/status-writer.ts';
import type { Plan } from '../../plan/plan.ts';
import { KnownAuthorities } from '../../probe/tls/authorities.ts';
import type { Observation } from '../../reconcile/observe.ts';
import type { ProbedPath } from '../../reconcile/report.ts';
import type { ProbeScheduler } from '../probe-scheduler.ts';
import { reportedHop } from '../../reconcile/conditions/hop-conditions.ts';

/** Sets the probe targets of Exposures, and returns the results of probes. */
export class ExposureProbes {
  readonly #probes: ProbeScheduler;
  readonly #statuses: Pick<StatusWriter<ExposureStatus>, 'statusOf'>;
  /** The CAs of all tenants, to name the tenant if a host presents the certificate of another tenant. */
  readonly #knownAuthorities = new KnownAuthorities();

  constructor(probes: ProbeScheduler, statuses: Pick<StatusWriter<ExposureStatus>, 'statusOf'>) {
    this.#probes = probes;
    this.#statuses = statuses;
  }

  /**
   * Starts or updates the probe of an Exposure. Stops it if the plan has no routes any more. Keeps the previous target if
   * the plan is incomplete or the tenant's CA is unknown.
   */
  setTarget(
    key: string,
    { object, resolved: { edge }, reading, facts }: Observation,
    plan: Plan,
  ): void {
    const { hosts, routes } = plan;
    const { edgeAddresses } = facts;
    const tenantCa = reading.controlPlane?.ca?.certificate;
    if (plan.management !== undefined && routes === undefined) this.stop(key);
    if (hosts === undefined || routes === undefined || tenantCa === undefined) return;
    this.#knownAuthorities.set(key, tenantCa);
    const target = {
      apiHost: hosts.api,
      konnectivityHost: routes.konnectivity?.host,
      port: edge.spec.port,
      edgeAddresses,
      tenantCa,
      knownAuthorities: this.#knownAuthorities,
    };
    this.#probes.setTarget(key, target, hadNoFailedProbe(this.#reportedHops(object, plan)));
  }

  /**
   * Returns the last probe result. Before the first probe of this process, returns the hops in the status, if they are for
   * the current spec. Returns no hops while the result is for a previous target.
   */
  pathOf(key: string, { object }: Observation, plan: Plan): ProbedPath {
    const isSuspect = this.#probes.isSuspect(key);
    const lastHops = this.#probes.hopsOf(key);
    if (lastHops === undefined) {
      const hops = this.#reportedHops(object, plan).map(reportedHop);
      return { hops, probed: undefined, isSuspect };
    }
    if (!this.#probes.isUpToDate(key)) return { hops: [], probed: undefined, isSuspect };
    return { hops: lastHops, probed: lastHops, isSuspect };
  }

  /** Returns the hops in the status, if the status is for the current spec and endpoint. */
  #reportedHops(object: KubeObject, { endpoint }: Plan): readonly Hop[] {
    const previousStatus = this.#statuses.statusOf(object);
    const isCurrent =
      previousStatus?.endpoint === endpoint &&
      previousStatus?.observedGeneration === object.metadata.generation;
    return isCurrent ? (previousStatus?.hops ?? []) : [];
  }

  /** Stops the probe of an Exposure. Its CA stays known. */
  stop(key: string): void {
    this.#probes.forget(key);
  }

  /** Stops the probe of an Exposure, and forgets the CA of its tenant. */
  forget(key: string): void {
    this.stop(key);
    this.#knownAuthorities.delete(key);
  }
}

/**
 * Reports whether the hops in a status contain results of a probe, and none of them failed. The hops `endpoints` and
 * `proxies` are not probed: the tenant's API reports them.
 */
function hadNoFailedProbe(hops: readonly Hop[]): boolean {
  const probed = hops.filter(({ name }) => name !== 'endpoints' && name !== 'proxies');
  return probed.length > 0 && probed.every(({ state }) => state !== 'Fail');
}
