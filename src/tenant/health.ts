/**
 * Where and how kubelet asks for the health of a pod.
 *
 * While a node changes from one revision of the DaemonSet to the next, both pods run, on the same network. With one
 * address for both, the old pod would answer for the new one, and be ended because the new one is "ready". So every
 * revision has an address of its own, out of the 16 million on the loopback device. Nothing outside the node reaches
 * it, and it is there before the node has any other: where a cloud provider has not come yet, a pod has no address.
 */
import { createHash } from 'node:crypto';
import type { Container } from './pod.ts';

/** The loopback address of the revision that this describes. Never in 127.0/16, where others listen. */
export function healthAddress(revision: unknown): string {
  const digest = createHash('sha256').update(JSON.stringify(revision)).digest();
  const [first = 0, second = 0, third = 0] = digest;
  return `127.${1 + (first % 254)}.${second}.${1 + (third % 254)}`;
}

/** Patient with a process that is busy, quick to take one that does not reach the edge for not ready. */
export function probesAt(
  host: string,
  port: number,
): Pick<Required<Container>, 'livenessProbe' | 'readinessProbe'> {
  const at = (path: string) => ({ host, port, path });
  return {
    livenessProbe: {
      httpGet: at('/healthz'),
      periodSeconds: 10,
      timeoutSeconds: 5,
      failureThreshold: 6,
    },
    readinessProbe: {
      httpGet: at('/readyz'),
      periodSeconds: 5,
      timeoutSeconds: 3,
      failureThreshold: 2,
    },
  };
}
