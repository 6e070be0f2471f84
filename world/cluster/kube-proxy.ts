import { CommandError } from '../machine/command.ts';
import type { Worker } from './worker.ts';

/** Reads kube-proxy's metrics with bash, because hosts have no curl. */
const METRICS_SCRIPT = String.raw`exec 3<>/dev/tcp/127.0.0.1/10249; printf 'GET /metrics HTTP/1.0\r\n\r\n' >&3; cat <&3`;

/** Matches the Unix time at which kube-proxy last wrote its rules. It is 0 before the first write. */
const RULES_WRITTEN = /^kubeproxy_sync_proxy_rules_last_timestamp_seconds(?:\{.*\})? [1-9]/m;

/**
 * Reports whether kube-proxy of this worker has written its rules. Until then, Services are unreachable from the node.
 */
export async function forwardsToServices(worker: Pick<Worker, 'exec'>): Promise<boolean> {
  try {
    return RULES_WRITTEN.test(await worker.exec('bash', '-c', METRICS_SCRIPT));
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    return false; // kube-proxy does not listen yet
  }
}
