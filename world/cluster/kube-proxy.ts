import { CommandError } from '../machine/command.ts';
import type { Worker } from './worker.ts';

/** With bash alone, which every machine of a world has. */
const ASK_FOR_METRICS = String.raw`exec 3<>/dev/tcp/127.0.0.1/10249; printf 'GET /metrics HTTP/1.0\r\n\r\n' >&3; cat <&3`;

/** When kube-proxy has last written its rules, in seconds since 1970. */
const RULES_WRITTEN = /^kubeproxy_sync_proxy_rules_last_timestamp_seconds(?:\{.*\})? [1-9]/m;

/** Has kube-proxy of this worker written its rules? Nobody on that node reaches a Service before. */
export async function leadsToServices(worker: Pick<Worker, 'exec'>): Promise<boolean> {
  try {
    return RULES_WRITTEN.test(await worker.exec('bash', '-c', ASK_FOR_METRICS));
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    return false; // it does not listen yet
  }
}
