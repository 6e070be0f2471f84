/**
 * Where clients reach a tenant through the edge.
 */
import type { ExposureStatus } from '../../api/exposure.ts';
import { findingText } from '../../api/finding.ts';
import { asCommandError, CommandError } from '../output/messages.ts';
import { keyText, type Condition, type KubeObject } from '../../kube/object.ts';
import type { Plan } from '../../plan/plan.ts';
import type { ManagementView } from '../../management/management-view.ts';

/** Where clients reach a tenant. */
interface Place {
  /** `host:port` */
  readonly endpoint: string;
  /** The Edge that routes there. */
  readonly edge: string | undefined;
}

/** Returns the endpoint that the operator has routed. @throws CommandError */
export function routedEndpoint(
  object: KubeObject,
  { tenantRoutes }: Pick<ManagementView, 'tenantRoutes'>,
): Place {
  const { status } = object as { readonly status?: ExposureStatus };
  const hosts = tenantRoutes.ofExposure(keyText(object.metadata)).map(({ spec }) => spec.host);
  const isRouted = hosts.some((host) => status?.endpoint?.startsWith(`${host}:`));
  if (!isRouted || status?.endpoint === undefined) {
    throw notRouted(status);
  }
  return { endpoint: status.endpoint, edge: status.edgeRef?.name };
}

/** Returns the endpoint that `snicket run` routes. Exposures in a folder have no status. @throws CommandError */
export function plannedEndpoint(plan: Plan, edge: string): Place {
  const fault = plan.findings.find(
    ({ about, severity }) => about !== 'tenant' && severity === 'error',
  );
  if (fault !== undefined) throw asCommandError(findingText(fault));
  if (plan.endpoint === undefined) throw new CommandError('the Exposure has no API host');
  return { endpoint: plan.endpoint, edge };
}

/** Returns an address of the desired Edge. @throws CommandError */
export function edgeAddress(
  [address]: readonly string[],
  used: string | undefined,
  desired: string,
): string {
  if (used !== desired) {
    throw new CommandError(
      `the Exposure is moving from Edge ${used} to Edge ${desired}`,
      'wait, or pass --address',
    );
  }
  if (address !== undefined) return address;
  throw new CommandError(
    `the address of Edge ${desired} is unknown`,
    'set spec.addresses of the Edge, wait for the load balancer if its Service is of type LoadBalancer, or pass --address',
  );
}

/** The conditions that precede a route. The first one that is not True is the reason. */
const BEFORE_ROUTED = ['Accepted', 'Prepared', 'Routed'];

function notRouted(status: ExposureStatus | undefined): CommandError {
  const conditions = (status?.conditions ?? []) as readonly Condition[];
  const reason = BEFORE_ROUTED.flatMap((type) => conditions.find((one) => one.type === type) ?? [])
    .filter((condition) => condition.status !== 'True')
    .map((condition) => `${condition.type} is ${condition.status}: ${condition.message}`)
    .at(0);
  return reason === undefined
    ? new CommandError(
        'the Exposure is not routed: the operator has not reconciled it',
        'check that the operator is running',
      )
    : asCommandError(`the Exposure is not routed: ${reason}`);
}
