/**
 * The probes of Exposures: their targets and results.
 */
import type { Hop } from '../../api/exposure.ts';
import type { KubeObject } from '../../kube/object.ts';
import type { Plan } from '../../plan/plan.ts';
import { KnownAuthorities } from '../../probe/tls/authorities.ts';
import type { Observation } from '../../reconcile/observe.ts';
import type { ProbedPath } from '../../reconcile/report.ts';
import type { ProbeScheduler } from '../probe-scheduler.ts';
import type { ExposureReports } from './exposure-reports.ts';
import { reportedHop } from '../../reconcile/conditions/hop-conditions.ts';

/** Probes all Exposures. */
export class ExposureProbes {
  readonly #probes: ProbeScheduler;
  readonly #reports: Pick<ExposureReports, 'statusOf'>;
  /** The CAs of all tenants, to name the tenant of a certificate that another tenant's host presents. */
  readonly #authorities = new KnownAuthorities();

  constructor(probes: ProbeScheduler, reports: Pick<ExposureReports, 'statusOf'>) {
    this.#probes = probes;
    this.#reports = reports;
  }

  /** Probes the path of clients to the tenant from now on, if it is known. */
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
    this.#authorities.set(key, tenantCa);
    const target = {
      apiHost: hosts.api,
      konnectivityHost: routes.konnectivity?.host,
      port: edge.spec.port,
      edgeAddresses,
      tenantCa,
      otherAuthorities: this.#authorities,
    };
    this.#probes.setTarget(key, target, wasReachable(this.#reportedHops(object, plan)));
  }

  /** What this process or a previous one found about the current spec. */
  pathOf(key: string, { object }: Observation, plan: Plan): ProbedPath {
    const last = this.#probes.hopsOf(key);
    const probed = this.#probes.isUpToDate(key) ? last : undefined;
    const reported = () => this.#reportedHops(object, plan).map(reportedHop);
    const hops = probed ?? (last === undefined ? reported() : []);
    return { hops, probed, isSuspect: this.#probes.isSuspect(key) };
  }

  /** The hops in the status, if they are about this spec. */
  #reportedHops(object: KubeObject, { endpoint }: Plan): readonly Hop[] {
    const before = this.#reports.statusOf(object);
    const isSame =
      before?.endpoint === endpoint && before?.observedGeneration === object.metadata.generation;
    return isSame ? (before?.hops ?? []) : [];
  }

  /** There is no path to probe. */
  stop(key: string): void {
    this.#probes.forget(key);
  }

  /** The tenant is gone. */
  forget(key: string): void {
    this.stop(key);
    this.#authorities.delete(key);
  }
}

/** Of the hops in a status only those that a probe finds out: the tenant's API reports the others. */
function wasReachable(hops: readonly Hop[]): boolean {
  const probed = hops.filter(({ name }) => name !== 'endpoints' && name !== 'proxies');
  return probed.length > 0 && probed.every(({ state }) => state !== 'Fail');
}
