/**
 * Health checks of a pod by the kubelet.
 *
 * During a rollout, the pods of the old and the new revision run on the host network of the same node. With one address
 * for both, the old pod would answer the probes of the new one. The new pod would seem ready, and the DaemonSet
 * controller would terminate the old one too early. Each revision therefore uses its own address, out of the 16 million
 * of the loopback device. Nothing outside of the node can reach it. The kubelet can also probe it before a cloud
 * provider has set the addresses of the node, when pods on the host network have no address.
 */
import { createHash } from 'node:crypto';
import type { Container } from './pod.ts';

/** Returns the loopback address of a revision. Never in 127.0/16, which other programs use. */
export function healthAddress(revision: unknown): string {
  const digest = createHash('sha256').update(JSON.stringify(revision)).digest();
  const [first = 0, second = 0, third = 0] = digest;
  return `127.${1 + (first % 254)}.${second}.${1 + (third % 254)}`;
}

/** Returns probes that tolerate a busy process, and that quickly detect a proxy without a connection to the edge. */
export function probesAt(
  host: string,
  port: number,
): Pick<Required<Container>, 'livenessProbe' | 'readinessProbe'> {
  const httpGet = (path: string) => ({ host, port, path });
  return {
    livenessProbe: {
      httpGet: httpGet('/healthz'),
      periodSeconds: 10,
      timeoutSeconds: 5,
      failureThreshold: 6,
    },
    readinessProbe: {
      httpGet: httpGet('/readyz'),
      periodSeconds: 5,
      timeoutSeconds: 3,
      failureThreshold: 2,
    },
  };
}
