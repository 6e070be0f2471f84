/** Checks the claims of the demo. Each check returns table rows with their results. */
import {
  administrator,
  namespacesSeenBy,
  pod,
  whoAmI,
  type Client,
  type Outcome,
} from './client.ts';
import { colored, type Finding } from './finding.ts';
import type { Tenant } from './stage/tenant.ts';
import type { Worker } from './stage/worker.ts';

/** Headings of {@link proveProblem}. */
export const PROBLEM_HEADINGS = ['CLIENT', 'SERVER NAME', 'RESULT'];

/** Sends requests to the shared address. Clients that dial a name reach their tenant, and pods do not. */
export async function proveProblem(
  tenants: readonly Tenant[],
  edgePort: number,
): Promise<Finding[]> {
  const byName = tenants.map(async (tenant) => {
    const outcome = await namespacesSeenBy(administrator(tenant, edgePort));
    const result = answeringTenant(outcome);
    const isExpected = result === `tenant ${tenant.name}`;
    const cells = [`kubectl, tenant ${tenant.name}`, tenant.host, colored(result, isExpected)];
    return { cells, isExpected };
  });
  const byAddress = tenants.map(async (tenant) => {
    const outcome = await namespacesSeenBy(pod(tenant, edgePort, 'token'));
    const result = answeringTenant(outcome);
    const isExpected = result === 'alert unrecognized_name';
    const cells = [`a pod of tenant ${tenant.name}`, 'none', colored(result, false)];
    return { cells, isExpected };
  });
  return Promise.all([...byName, ...byAddress]);
}

/** Headings of {@link proveSolution}, short so that a row fits into 80 columns. */
export const SOLUTION_HEADINGS = ['POD', 'MODE', 'CREDENTIAL', 'RESULT', 'AUTHENTICATED AS'];

/** Sends requests of pods through the proxy on their worker, in its current mode. They reach their own tenant. */
export async function proveSolution(workers: readonly Worker[]): Promise<Finding[]> {
  return Promise.all(
    workers.flatMap((worker) =>
      (['token', 'certificate'] as const).map(async (credential) => podFinding(worker, credential)),
    ),
  );
}

async function podFinding(
  { tenant, mode, port }: Worker,
  credential: 'token' | 'certificate',
): Promise<Finding> {
  const client = pod(tenant, port, credential);
  const result = answeringTenant(await namespacesSeenBy(client));
  const name = await nameOf(client);
  const isReached = result === `tenant ${tenant.name}` && name !== 'system:anonymous';
  // A proxy that terminates TLS cannot forward a client certificate.
  const losesIdentity = mode === 'Terminate' && credential === 'certificate';
  return {
    cells: [`of ${tenant.name}`, mode ?? 'none', credential, colored(result, isReached), name],
    isExpected: losesIdentity ? name === 'system:anonymous' : isReached,
  };
}

/** Returns the tenant whose API server answered, identified by its namespace, or the reason of the failure. */
function answeringTenant(outcome: Outcome): string {
  if (outcome.kind === 'refused') return outcome.reason;
  const { items = [] } = outcome.body as { items?: readonly { metadata: { name: string } }[] };
  const tenants = items.flatMap(({ metadata }) => /^home-of-(.+)/.exec(metadata.name)?.[1] ?? []);
  return tenants.length === 0 ? `status ${outcome.status}` : `tenant ${tenants.join()}`;
}

async function nameOf(client: Client): Promise<string> {
  const outcome = await whoAmI(client);
  if (outcome.kind === 'refused') return outcome.reason;
  const { status, message = '' } = outcome.body as {
    status?: { userInfo?: { username: string } };
    message?: string;
  };
  // The message of a 403 response contains the user name.
  return status?.userInfo?.username ?? /User "([^"]+)"/.exec(message)?.[1] ?? message;
}
