/**
 * Brings one Exposure about: routes in the management cluster, everything else in the tenant's, and a status that says
 * how far that is. Level-based: each run looks at what is there now, and a run that changes nothing writes nothing.
 */
import { formerRoutesKept } from '../../edges/former-routes.ts';
import { systemClock } from '../../engine/clock.ts';
import type { ListenAddress } from '../../engine/listen-address.ts';
import type { Applier } from '../../kube/apply.ts';
import { findCondition } from '../../kube/conditions.ts';
import type { EventRecorder } from '../../kube/events.ts';
import type { KubeObject } from '../../kube/object.ts';
import type { ControlPlaneReading } from '../../providers/read-control-plane.ts';
import type { Logger } from '../../telemetry/log.ts';
import type { ManagementCluster } from '../management/management-cluster.ts';
import type { KnownWish } from '../management/exposure-book.ts';
import { step, StepFailed } from '../management/management-fault.ts';
import type { SecretRounds } from '../management/secret-rounds.ts';
import { lookAtExposure } from '../look.ts';
import type { MasterKeys } from '../master-keys.ts';
import type { ProbeRounds } from '../probe-rounds.ts';
import type { TenantLink } from '../tenant/tenant-link.ts';
import type { TenantLinks } from '../tenant/tenant-links.ts';
import { bringTenant, type TenantOutcome } from '../tenant/bring-tenant.ts';
import type { Preparer } from '../preparation/preparer.ts';
import { SecretRenewals } from '../preparation/secret-renewals.ts';
import {
  ExposurePreparations,
  NOTHING_TO_PREPARE,
  type ExposurePreparation,
} from './exposure-preparations.ts';
import { ExposureProbes } from './exposure-probes.ts';
import { holdExposure, ROUTES_FINALIZER, TENANT_FINALIZER } from './finalizers.ts';
import { ExposureReports, LEAVING } from './exposure-reports.ts';
import { isElsewhere } from './exposure-status.ts';
import { FaultReports } from './fault-reports.ts';
import {
  acceptedVerdict,
  hasEverything,
  isInUse,
  isRoutedAs,
  preparedVerdict,
  refused,
  startingForMs,
  verdictBefore,
} from './exposure-verdicts.ts';
import { konnectivityVerdict, reachableVerdict, withTenantHops } from './hop-verdicts.ts';
import { foreseenWait, leave } from './leave.ts';
import { LeaveTimes } from './leave-times.ts';
import type { Routing } from './routing.ts';
import { fails, noting, notYet, type Verdicts } from './verdicts.ts';

/** What the controller works with. */
export interface ExposureControllerOptions {
  readonly management: ManagementCluster;
  /** Of the operator. */
  readonly namespace: string;
  readonly routing: Routing;
  readonly preparer: Preparer;
  readonly links: TenantLinks;
  /** One for each tenant's API server. */
  readonly applierFor: (link: TenantLink) => Applier;
  readonly probes: ProbeRounds;
  readonly secrets: SecretRounds;
  readonly events: EventRecorder;
  readonly masterKeys: () => Promise<MasterKeys>;
  readonly log: Logger;
  /** The image of the proxy, for Exposures that name none. */
  readonly proxyImage: string;
  /** Whether the gateway is on this machine. Default: it is in the cluster. */
  readonly isGatewayHere?: boolean | undefined;
  /** Whether it listens there then. Default: that is not known. */
  readonly isGatewayAt?: ((place: ListenAddress) => boolean) | undefined;
  /** How long a deleted Exposure waits for a tenant that cannot be reached. */
  readonly leaveTimeoutMs: number;
  /** How long a provider has to make a Secret anew by itself. Default 20,000. */
  readonly renewAfterMs?: number | undefined;
  /** Of one look at a tenant: one that hangs must not hold up the others. */
  readonly tenantTimeoutMs: number;
  /** How often a steady Exposure is looked at nevertheless: not all that is in a tenant is watched. */
  readonly resyncMs: number;
}

const MISSING_MS = 5_000;

/** When to look again; undefined: when something changes. */
export type LookAgainMs = number | undefined;

/** The controller of Exposures. */
export class ExposureController {
  readonly #options: ExposureControllerOptions;
  readonly #reports: ExposureReports;
  readonly #leaveTimes: LeaveTimes;
  readonly #faults: FaultReports;
  readonly #renewals: SecretRenewals;
  readonly #preparations: ExposurePreparations;
  readonly #probes: ExposureProbes;

  constructor(options: ExposureControllerOptions) {
    this.#options = options;
    this.#reports = new ExposureReports(options);
    this.#faults = new FaultReports(this.#reports);
    this.#leaveTimes = new LeaveTimes(options.leaveTimeoutMs, systemClock);
    this.#renewals = new SecretRenewals(options);
    this.#preparations = new ExposurePreparations({
      ...{ ...options, reports: this.#reports, renewals: this.#renewals },
    });
    this.#probes = new ExposureProbes(options.probes, this.#reports);
  }

  /** Whether a change of an Exposure is somebody else's to its status: it has to be put right. */
  hasForeignStatus(object: KubeObject, previous: KubeObject): boolean {
    return this.#reports.isForeign(object, previous);
  }

  /** @throws KubeError for what should be tried again soon. */
  async reconcile(key: string, signal: AbortSignal): Promise<LookAgainMs> {
    const { management, probes, secrets } = this.#options;
    const object = management.exposures.get(keyIn(key));
    if (object === undefined) {
      this.#forget(key);
      return undefined;
    }
    if (object.metadata.deletionTimestamp !== undefined) {
      probes.forget(key);
      return this.#faults.telling(object, async () => this.#leave(key, object, signal), signal);
    }
    const { value: wish, finding } = management.book.wishOf(object);
    if (wish === undefined) {
      probes.forget(key);
      secrets.forget(key);
      await this.#reports.report(
        object,
        { isRouted: false, verdicts: refused(fails(finding)) },
        signal,
      );
      return undefined;
    }
    const work = async () => this.#bringAbout(key, object, wish, signal);
    return this.#faults.telling(object, work, signal);
  }

  async #leave(key: string, object: KubeObject, signal: AbortSignal): Promise<LookAgainMs> {
    const means = {
      ...{ ...this.#options, leaveTimes: this.#leaveTimes, renewals: this.#renewals },
    };
    if (findCondition(this.#reports.statusOf(object)?.conditions, 'Ready')?.reason !== LEAVING) {
      const wait = foreseenWait(object, means);
      if (wait !== undefined) await this.#reports.reportLeaving(object, wait, signal);
    }
    const leaving = await leave(this.#reports.latest(object), means, signal);
    if (leaving === undefined) this.#forget(key);
    else await this.#reports.reportLeaving(object, leaving.because, signal);
    return leaving?.lookAgainMs;
  }

  #forget(key: string): void {
    this.#options.links.forget(key);
    this.#options.probes.forget(key);
    this.#options.secrets.forget(key);
    this.#reports.forget(key);
    this.#faults.forget(key);
    this.#leaveTimes.forget(key);
    this.#renewals.forget(key);
    this.#probes.forget(key);
  }

  async #bringAbout(
    key: string,
    object: KubeObject,
    wish: KnownWish,
    signal: AbortSignal,
  ): Promise<LookAgainMs> {
    const { routing, probes, secrets, resyncMs } = this.#options;
    const { edge, exposure } = wish;
    const wishedPort = exposure.spec.controlPlane.service?.konnectivityPort;
    const look = await step('Prepared', async () =>
      lookAtExposure(object, wish, this.#options, signal),
    );
    const { reading, plan } = look;
    secrets.follow(key, look.secrets);
    const accepted = acceptedVerdict(plan);
    const writesRoutes = plan.management !== undefined && plan.management.length > 0;
    const hold = async (finalizer: string) =>
      holdExposure({ ...this.#options, reports: this.#reports }, object, finalizer, signal);
    const holdRoutes = async () => hold(ROUTES_FINALIZER);
    if (writesRoutes && !(await step('Routed', holdRoutes))) return undefined;
    const routed = await step('Routed', async () => routing.apply(object, edge, plan, signal));
    const before = this.#reports.statusOf(object);
    const isMoving = !routed.isInForce && isElsewhere(before, edge);
    if (!isMoving) this.#probes.aim(key, look);
    // Not for an Edge that takes no routes yet: what is in use goes by the hosts that the control plane knows now.
    const inUse = isInUse(this.#reports.latest(object), before, look, routed.former);
    const preparation: ExposurePreparation | undefined =
      accepted.status === 'True' && !isMoving
        ? await this.#preparations.prepare(object, look, inUse, signal)
        : NOTHING_TO_PREPARE;
    if (preparation === undefined) return undefined;
    const { isPrepared, fault } = preparation;
    const prepared =
      fault !== undefined
        ? verdictBefore(before, 'Prepared')
        : accepted.status === 'True'
          ? preparedVerdict(reading, preparation.findings)
          : notYet('Accepted');
    const verdicts = (tenant?: TenantOutcome, former = routed.former): Verdicts => {
      const hops = this.#probes.hopsFor(key, object, plan);
      const isRouted = accepted.status === 'True' && plan.routes !== undefined;
      const later = isRouted
        ? undefined
        : notYet(accepted.status === 'True' ? 'Prepared' : 'Accepted');
      const { obstacle } = routed;
      return {
        Accepted: accepted,
        Prepared: prepared,
        Routed: noting(
          obstacle ? fails(obstacle) : (later ?? routing.verdict(object, edge, plan, hops)),
          formerRoutesKept(former, edge),
        ),
        TenantReady:
          later ??
          tenant?.verdict ??
          (isPrepared || inUse ? verdictBefore(before, 'TenantReady') : notYet('Prepared')),
        KonnectivityReady: later ?? konnectivityVerdict(plan, hops, wishedPort),
        Reachable: later ?? reachableVerdict(hops, isMoving ? before?.edge : undefined),
      };
    };
    const input = {
      ...{ edge, plan, isRouted: plan.management !== undefined && !isMoving },
      isLost: (host: string) => this.#options.management.book.isHeldByAnother(host, key),
      // If somebody else has changed the status, its hops are what we found all the same.
      areHopsCurrent: probes.isUpToDate(key) || undefined,
    };
    if (input.isRouted && plan.routes === undefined) probes.forget(key);
    const { lookAgainMs } = preparation;
    // What is in use stays as it is until the Edge that is wished for takes routes. And a control plane that was never
    // prepared would write the endpoints of its proxies anew, again and again.
    if (isMoving || plan.routes === undefined || !(isPrepared || inUse)) {
      await this.#reports.report(object, { ...input, verdicts: verdicts() }, signal);
      const againMs = soonest(routed.lookAgainMs, lookAgainMs, missingMs(reading), resyncMs);
      return accepted.status === 'True' ? againMs : undefined;
    }
    // The gateway reads the status: a tenant that is slow to answer must not keep its route waiting.
    if (!isRoutedAs(before, edge, plan)) {
      await this.#reports.report(object, { ...input, verdicts: verdicts() }, signal);
    }

    const task = { key, before, hold: async () => hold(TENANT_FINALIZER), ...look };
    const tenant = await step('TenantReady', async () => bringTenant(task, this.#options, signal));
    const againMs = soonest(
      ...[routed.lookAgainMs, lookAgainMs, tenant.lookAgainMs, missingMs(reading), resyncMs],
    );
    const startingMs = startingForMs(this.#reports.statusOf(object), tenant, new Date());
    if (startingMs > 0 && fault === undefined) return soonest(againMs, startingMs);
    const found = verdicts(tenant);
    // The proxies go by the former edge until they have changed over, and clients until DNS leads them elsewhere.
    const hasMoved = probes.isUpToDate(key) && hasEverything(found, tenant);
    if (hasMoved) await step('Routed', async () => routing.remove(routed.former, signal));
    await this.#reports.report(
      object,
      {
        ...input,
        hops: probes.isUpToDate(key) ? withTenantHops(probes.hopsOf(key), tenant.hops) : undefined,
        ...{ proxies: tenant.proxies, certificate: tenant.certificate, hasMoved },
        verdicts: hasMoved ? verdicts(tenant, []) : found,
      },
      signal,
    );
    // Its control plane keeps the former hosts until the status says that nobody goes by them.
    const isToldFirst = hasMoved && before?.formerRoute !== undefined;
    if (fault !== undefined) throw new StepFailed('Prepared', fault);
    return isToldFirst ? 0 : soonest(againMs, this.#reports.untoldMs(key));
  }
}

/** `namespace/name`, apart. */
function keyIn(key: string): { readonly namespace: string; readonly name: string } {
  const slash = key.indexOf('/');
  return { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
}

/** Secrets are not watched: one that is missing is looked for again soon. */
function missingMs({ findings }: ControlPlaneReading): number | undefined {
  return findings.some(({ severity }) => severity === 'error') ? MISSING_MS : undefined;
}

function soonest(...delaysMs: readonly (number | undefined)[]): number {
  return Math.min(...delaysMs.flatMap((ms) => ms ?? []));
}
