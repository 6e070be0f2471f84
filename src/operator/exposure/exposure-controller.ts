/**
 * Brings one Exposure about: routes in the management cluster, everything else in the tenant's, and a status that says
 * how far that is. Level-based: each run looks at what is there now, and a run that changes nothing writes nothing.
 */
import { formerRoutesKept } from '../../edges/former-routes.ts';
import { systemClock } from '../../engine/clock.ts';
import type { Applier } from '../../kube/apply.ts';
import type { EventRecorder } from '../../kube/events.ts';
import { addFinalizer } from '../../kube/finalizer.ts';
import type { KubeObject } from '../../kube/object.ts';
import { RESOURCES } from '../../kube/resource.ts';
import { KnownAuthorities } from '../../probe/tls/authorities.ts';
import type { Plan } from '../../plan/plan.ts';
import type { ControlPlaneReading } from '../../providers/read-control-plane.ts';
import type { Logger } from '../../telemetry/log.ts';
import type { ManagementCluster } from '../management/management-cluster.ts';
import type { KnownWish } from '../management/exposure-book.ts';
import { step } from '../management/management-fault.ts';
import type { SecretRounds } from '../management/secret-rounds.ts';
import { lookAtExposure, type Look } from '../look.ts';
import type { MasterKeys } from '../master-keys.ts';
import type { ProbeRounds } from '../probe-rounds.ts';
import type { TenantLink } from '../tenant/tenant-link.ts';
import type { TenantLinks } from '../tenant/tenant-links.ts';
import { bringTenant, type TenantOutcome } from '../tenant/bring-tenant.ts';
import { preparationFor } from '../preparation/exposure-preparation.ts';
import type { PreparationOutcome, Preparer } from '../preparation/preparer.ts';
import { publishedFindings } from '../../providers/published-server.ts';
import { PREPARATION_FINALIZER, ROUTES_FINALIZER, TENANT_FINALIZER } from './finalizers.ts';
import { ExposureReports } from './exposure-reports.ts';
import { isElsewhere } from './exposure-status.ts';
import { FaultReports } from './fault-reports.ts';
import {
  acceptedVerdict,
  hasEverything,
  isRoutedAs,
  preparedVerdict,
  refused,
  startingForMs,
  tenantBefore,
} from './exposure-verdicts.ts';
import {
  konnectivityVerdict,
  reachableVerdict,
  withTenantHops,
  type KnownHop,
} from './hop-verdicts.ts';
import { leave } from './leave.ts';
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
  /** How long a deleted Exposure waits for a tenant that cannot be reached. */
  readonly leaveTimeoutMs: number;
  /** Of one look at a tenant: one that hangs must not hold up the others. */
  readonly tenantTimeoutMs: number;
  /** How often a steady Exposure is looked at nevertheless: not all that is in a tenant is watched. */
  readonly resyncMs: number;
}

const MISSING_MS = 5_000;

const NOTHING_TO_PREPARE: PreparationOutcome = { isPrepared: true, findings: [] };

/** When to look again; undefined: when something changes. */
export type LookAgainMs = number | undefined;

/** The controller of Exposures. */
export class ExposureController {
  readonly #options: ExposureControllerOptions;
  /** Of all tenants: whose a certificate is that a probe meets at the wrong place. */
  readonly #authorities = new KnownAuthorities();
  readonly #reports: ExposureReports;
  readonly #leaveTimes: LeaveTimes;
  readonly #faults: FaultReports;

  constructor(options: ExposureControllerOptions) {
    this.#options = options;
    this.#reports = new ExposureReports(options);
    this.#faults = new FaultReports(this.#reports);
    this.#leaveTimes = new LeaveTimes(options.leaveTimeoutMs, systemClock);
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
    const means = { ...this.#options, leaveTimes: this.#leaveTimes };
    const leaving = await leave(object, means, signal);
    if (leaving === undefined) this.#forget(key);
    else await this.#reports.reportLeaving(object, leaving.because, signal);
    return leaving?.lookAgainMs;
  }

  /** False if the object is gone, or another one by now. */
  async #hold(object: KubeObject, finalizer: string, signal: AbortSignal): Promise<boolean> {
    const { client } = this.#options.management;
    const latest = this.#reports.latest(object);
    if (latest.metadata.uid !== object.metadata.uid) return false;
    const held = await addFinalizer(client, RESOURCES.exposure, latest, finalizer, { signal });
    return held !== undefined && held.metadata.deletionTimestamp === undefined;
  }

  #forget(key: string): void {
    this.#options.links.forget(key);
    this.#options.probes.forget(key);
    this.#options.secrets.forget(key);
    this.#reports.forget(key);
    this.#faults.forget(key);
    this.#leaveTimes.forget(key);
    this.#authorities.delete(key);
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
    const { reading, facts, plan } = look;
    secrets.follow(key, look.secrets);
    const accepted = acceptedVerdict(plan);
    const writesRoutes = plan.management !== undefined && plan.management.length > 0;
    const holdRoutes = async () => this.#hold(object, ROUTES_FINALIZER, signal);
    if (writesRoutes && !(await step('Routed', holdRoutes))) return undefined;
    const routed = await step('Routed', async () => routing.apply(object, edge, plan, signal));
    const before = this.#reports.statusOf(object);
    const isMoving = !routed.isInForce && isElsewhere(before, edge);
    if (!isMoving) this.#aimProbes(key, wish, plan, reading, facts.edgeAddresses);
    // Not for an Edge that takes no routes yet: what is in use goes by the hosts that the control plane knows now.
    const preparation =
      accepted.status === 'True' && !isMoving
        ? await step('Prepared', async () => this.#prepare(object, look, signal))
        : NOTHING_TO_PREPARE;
    if (preparation === undefined) return undefined;
    const { isPrepared } = preparation;
    const prepared =
      accepted.status === 'True'
        ? preparedVerdict(reading, preparation.findings)
        : notYet('Accepted');
    const verdicts = (tenant?: TenantOutcome, former = routed.former): Verdicts => {
      const hops = this.#hopsFor(key, object, plan);
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
          later ?? tenant?.verdict ?? (isPrepared ? tenantBefore(before) : notYet('Prepared')),
        KonnectivityReady: later ?? konnectivityVerdict(plan, hops, wishedPort),
        Reachable: later ?? reachableVerdict(hops, isMoving ? before?.edge : undefined),
      };
    };
    const input = {
      ...{ edge, plan, isRouted: plan.management !== undefined && !isMoving },
      // If somebody else has changed the status, its hops are what we found all the same.
      areHopsCurrent: probes.isUpToDate(key) || undefined,
    };
    if (input.isRouted && plan.routes === undefined) probes.forget(key);
    const { lookAgainMs } = preparation;
    // What is in use stays as it is until the Edge that is wished for takes routes. And a control plane that may not be
    // prepared would write the endpoints of its proxies anew, again and again.
    if (isMoving || plan.routes === undefined || !isPrepared) {
      await this.#reports.report(object, { ...input, verdicts: verdicts() }, signal);
      const againMs = soonest(routed.lookAgainMs, lookAgainMs, missingMs(reading), resyncMs);
      return accepted.status === 'True' ? againMs : undefined;
    }
    // The gateway reads the status: a tenant that is slow to answer must not keep its route waiting.
    if (!isRoutedAs(before, edge, plan)) {
      await this.#reports.report(object, { ...input, verdicts: verdicts() }, signal);
    }

    const hold = async () => this.#hold(object, TENANT_FINALIZER, signal);
    const tenant = await step('TenantReady', async () =>
      bringTenant({ key, hold, ...look }, this.#options, signal),
    );
    const againMs = soonest(routed.lookAgainMs, tenant.lookAgainMs, missingMs(reading), resyncMs);
    const startingMs = startingForMs(this.#reports.statusOf(object), tenant, new Date());
    if (startingMs > 0) return soonest(againMs, startingMs);
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
    return soonest(againMs, this.#reports.untoldMs(key));
  }

  /** The objects of its provider, as they must be; undefined if it is too late to begin. @throws KubeError */
  async #prepare(
    object: KubeObject,
    { wish, reading, plan }: Look,
    signal: AbortSignal,
  ): Promise<PreparationOutcome | undefined> {
    const { management, preparer } = this.#options;
    const { provided } = reading;
    if (provided === undefined || plan.hosts === undefined) return NOTHING_TO_PREPARE;
    const input = preparationFor(wish, plan.hosts, provided, management.book);
    const isWritten = input.policy !== 'Report';
    if (isWritten && !(await this.#hold(object, PREPARATION_FINALIZER, signal))) return undefined;
    const outcome = await preparer.prepare(input, signal);
    const published = outcome.isPrepared ? publishedFindings(provided, input.wish) : [];
    return { ...outcome, findings: [...outcome.findings, ...published] };
  }

  /** What is known of the hops of this very wish: probed, or by a process before this one. */
  #hopsFor(key: string, object: KubeObject, { endpoint }: Plan): readonly KnownHop[] {
    const { probes } = this.#options;
    if (probes.hopsOf(key) !== undefined)
      return probes.isUpToDate(key) ? (probes.hopsOf(key) ?? []) : [];
    const before = this.#reports.statusOf(object);
    const isSame =
      before?.endpoint === endpoint && before?.observedGeneration === object.metadata.generation;
    return isSame ? (before?.hops ?? []) : [];
  }

  #aimProbes(
    key: string,
    { edge }: KnownWish,
    { hosts, routes }: Plan,
    { controlPlane }: ControlPlaneReading,
    edgeAddresses: readonly string[],
  ): void {
    const tenantCa = controlPlane?.ca?.certificate;
    if (hosts === undefined || routes === undefined || tenantCa === undefined) return;
    this.#authorities.set(key, tenantCa);
    this.#options.probes.aim(key, {
      ...{ apiHost: hosts.api, konnectivityHost: routes.konnectivity?.host },
      ...{ port: edge.spec.port, edgeAddresses, tenantCa },
      otherAuthorities: this.#authorities,
    });
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
