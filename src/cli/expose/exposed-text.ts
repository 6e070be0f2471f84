/**
 * The message about a new Exposure: its hosts, and what they need.
 */
import { keyText, type KubeObject } from '../../kube/object.ts';
import type { DryRun } from '../../reconcile/dry-run.ts';

/** Returns the message; `name` is that of the program. */
export function exposedText(
  name: string,
  { metadata }: KubeObject,
  { resolved, plan }: Pick<DryRun, 'resolved' | 'plan'>,
): string {
  const key = keyText(metadata);
  const lines = [`exposure.snicket.dev/${metadata.name} created`];
  const edge = resolved?.edge;
  if (edge !== undefined && plan?.hosts !== undefined) {
    const { hosts, routes } = plan;
    // Whether the control plane has konnectivity is known once there is a route.
    const konnectivity = routes === undefined ? hosts.konnectivity : routes.konnectivity?.host;
    const { port } = edge.spec;
    lines.push('', `API           ${hosts.api}:${port}`);
    if (konnectivity !== undefined) lines.push(`Konnectivity  ${konnectivity}:${port}`);
    const addresses = edge.status?.addresses ?? edge.spec.addresses ?? [];
    const where = addresses.length === 0 ? '' : ` (${addresses.join(', ')})`;
    const records =
      konnectivity === undefined ? 'a DNS record that points' : 'DNS records that point';
    lines.push('', `Create ${records} to Edge ${edge.metadata.name}${where}:`);
    lines.push(`  ${name} dns ${key}`);
  }
  lines.push('Check the status:', `  ${name} status ${key}`);
  return `${lines.join('\n')}\n`;
}
