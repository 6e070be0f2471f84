/**
 * Requests that a pod sends to its API server. The script runs inside the pod, so failures between the test and the pod
 * do not count.
 */
import type { Cluster } from '../world/cluster/cluster.ts';
import type { Pod } from '../world/cluster/pod.ts';
import { retry, waitFor } from '../world/wait.ts';

/**
 * Returns a shell script that sends requests to the pod's API server, each on its own connection. It retries until the
 * first answer, and then continues and prints each result. The requests use the pod's own credentials, which need the
 * permissions that `createHomeNamespace` grants.
 */
export function requestLoopScript(): string {
  // kubectl aborts a handshake after ten seconds. On a slow machine, the next attempt succeeds.
  const request = `request() {
    for try in 1 2 3 4 5 6; do
      output=$(timeout 60 kubectl get --raw /api/v1/namespaces 2>&1) && return 0
      case $output in *"TLS handshake timeout"*) ;; *) return 1 ;; esac
    done
    return 1
  }`;
  const first = 'until request; do sleep 0.3; done; echo answered';
  const failed = 'echo failed $(date -u +%T) $output';
  return `${request}\n${first}\nwhile sleep 0.3; do if request; then echo answered; else ${failed}; fi; done`;
}

/** Returns the failed requests in the output of {@link requestLoopScript}. */
export function failedRequests(log: string): readonly string[] {
  return log.split('\n').filter((line) => line.startsWith('failed'));
}

/** A pod that sends requests to its API server while a test changes the path. */
export class RequestLoop {
  readonly #pod: Pod;

  private constructor(pod: Pod) {
    this.#pod = pod;
  }

  /** Creates the pod and waits for its first answered request. */
  static async run(cluster: Cluster): Promise<RequestLoop> {
    const loop = new RequestLoop(
      await cluster.runPod({ command: ['sh', '-c', requestLoopScript()] }),
    );
    await loop.untilAnswered(1);
    return loop;
  }

  /** Waits until this many more requests were answered, or one has failed. */
  async untilAnswered(count: number): Promise<void> {
    const before = answersIn(await this.#log());
    const isEnough = async () => {
      const log = await this.#log();
      return answersIn(log) >= before + count || failedRequests(log).length > 0;
    };
    await waitFor(`${count} requests were answered`, isEnough, { deadlineMs: 120_000 });
  }

  /** Deletes the pod and returns the requests that failed. */
  async stop(): Promise<readonly string[]> {
    const failures = failedRequests(await this.#log());
    await this.#pod.delete();
    return failures;
  }

  /** Reads the log through konnectivity, with retries, because konnectivity is not under test here. */
  async #log(): Promise<string> {
    return retry(async () => this.#pod.logs());
  }
}

function answersIn(log: string): number {
  return log.split('\n').filter((line) => line === 'answered').length;
}
