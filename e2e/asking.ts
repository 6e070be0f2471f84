/** Requests of a pod, made inside the pod: what fails between it and its API counts, and not what fails on the way to the pod. */
import type { Cluster } from '../world/cluster/cluster.ts';
import type { Pod } from '../world/cluster/pod.ts';
import { persist, waitFor } from '../world/wait.ts';

/**
 * A shell script that asks for the pod's API until it is answered, and from then on again and again, each time on a
 * connection of its own; it prints what came of it. The answer is one to the pod's own credentials, which need the
 * rights that `makeHome` gives.
 */
export function askingScript(): string {
  // kubectl gives up a handshake after ten seconds. Where that is the machine's fault the next one comes through.
  const ask = `ask() {
    for try in 1 2 3 4 5 6; do
      said=$(timeout 60 kubectl get --raw /api/v1/namespaces 2>&1) && return 0
      case $said in *"TLS handshake timeout"*) ;; *) return 1 ;; esac
    done
    return 1
  }`;
  const first = 'until ask; do sleep 0.3; done; echo answered';
  const failed = 'echo failed $(date -u +%T) $said';
  return `${ask}\n${first}\nwhile sleep 0.3; do if ask; then echo answered; else ${failed}; fi; done`;
}

/** Those requests that failed, by what {@link askingScript} printed. */
export function failuresIn(log: string): readonly string[] {
  return log.split('\n').filter((line) => line.startsWith('failed'));
}

/** A pod of its own that asks, for as long as something is done to the way. */
export class AskingPod {
  readonly #pod: Pod;

  private constructor(pod: Pod) {
    this.#pod = pod;
  }

  /** Returns when the first request was answered. */
  static async run(cluster: Cluster): Promise<AskingPod> {
    const asking = new AskingPod(await cluster.runPod({ command: ['sh', '-c', askingScript()] }));
    await asking.more(1);
    return asking;
  }

  /** Waits until so many more requests were answered, or one has failed. */
  async more(count: number): Promise<void> {
    const outset = answersIn(await this.#log());
    const isEnough = async () => {
      const log = await this.#log();
      return answersIn(log) >= outset + count || failuresIn(log).length > 0;
    };
    await waitFor(`${count} requests were answered`, isEnough, { deadlineMs: 120_000 });
  }

  /** Ends the asking; returns what failed until then. */
  async stop(): Promise<readonly string[]> {
    const failures = failuresIn(await this.#log());
    await this.#pod.delete();
    return failures;
  }

  /** The log comes by konnectivity, which is not what is looked at. */
  async #log(): Promise<string> {
    return persist(async () => this.#pod.logs());
  }
}

function answersIn(log: string): number {
  return log.split('\n').filter((line) => line === 'answered').length;
}
