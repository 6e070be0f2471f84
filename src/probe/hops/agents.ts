/**
 * konnectivity, second part: whether an agent is connected. The API server of the tenant reaches kubelets only through
 * konnectivity-server and an agent, so the response of any kubelet shows that logs, exec and webhooks work.
 */
import type { KubeClient } from '../../kube/client/client.ts';
import { isKubeError, KubeError } from '../../kube/kube-error.ts';
import type { KubeObject } from '../../kube/object.ts';
import { RESOURCES } from '../../kube/resource.ts';
import { sentence } from '../../text/sentence.ts';
import { hopResult, notObserved, type HopResult } from '../hop.ts';
import { withTimeout, TIMED_OUT, type Limits } from '../limits.ts';

/** The requests to the API server of the tenant. */
export type AgentClient = Pick<KubeClient, 'list' | 'kubeletStatus'>;

/** The nodes that are read. Each has about 12 KB. */
const LISTED_NODES = 10;
/** The nodes that are tried in turn, so that one dead node does not decide. */
export const TRIED_NODES = 3;
/** A kubelet does not send statuses from here on. A proxy in front of an API server does. */
const BAD_GATEWAY = 502;
/** An overloaded API server sends this as plain text. A kubelet does not. */
const TOO_MANY_REQUESTS = 429;

/** A node of the tenant. */
interface Node extends KubeObject {
  readonly status?: {
    readonly conditions?: readonly { readonly type: string; readonly status: string }[];
  };
}

/** A node to request. */
interface Candidate {
  readonly name: string;
  /** Whether its kubelet has reported within the last 40 seconds. */
  readonly isReady: boolean;
}

/** The result of one check. `Failed`: no kubelet responded. */
type Outcome =
  | { readonly kind: 'Connected' }
  | { readonly kind: 'NoNodes' }
  | { readonly kind: 'Failed'; readonly error: KubeError; readonly isReady: boolean };

/** The check of one tenant. It remembers which node responded, so that a steady tenant gets one small request. */
export class AgentCheck {
  readonly #client: () => AgentClient | undefined;
  readonly #tries: number;
  /** The node whose kubelet responded last. */
  #known: string | undefined;
  /** The number of checks since the last response of a kubelet. It selects the next node. */
  #failures = 0;
  /** The result since the last response of a kubelet. */
  #reported: { readonly server: HopResult; readonly result: HopResult } | undefined;

  /**
   * @param client - Returns a client of the tenant; undefined if there is none.
   * @param tries - The maximum number of nodes to request in one check. Default 1: the next check requests the next node.
   */
  constructor(client: () => AgentClient | undefined, tries = 1) {
    this.#client = client;
    this.#tries = tries;
  }

  /** Completes the result of the hop, after the handshake with konnectivity-server passed. @throws the reason of the signal */
  async complete(server: HopResult, limits: Limits): Promise<HopResult> {
    const client = this.#client();
    if (client === undefined) {
      const why = 'not checked because the API of the tenant is not reachable (see WorkersReady)';
      return notObserved(server.name, server.target, unknown(server, why));
    }
    for (let left = this.#tries; ; left--) {
      const result = await this.#check(server, client, limits);
      if (left <= 1 || this.#failures === 0 || result.code === 'AgentCheckForbidden') {
        return this.#steady(server, result);
      }
    }
  }

  /**
   * Returns the previous result unless this one says more. The nodes are tried in turn and fail with different texts or codes,
   * and each change of the result would be a write of the status.
   */
  #steady(server: HopResult, result: HopResult): HopResult {
    const last = this.#failures === 0 ? undefined : this.#reported;
    const isSame = last !== undefined && Bun.deepEquals(last.server, server);
    const saysNoMore =
      result.code === last?.result.code ||
      (result.code === 'AgentCheckInconclusive' && last?.result.code === 'KonnectivityNoAgent');
    if (isSame && saysNoMore) return last.result;
    this.#reported = { server, result };
    return result;
  }

  async #check(server: HopResult, client: AgentClient, limits: Limits): Promise<HopResult> {
    const outcome = await withTimeout(limits, async (signal) => this.#outcome(client, signal));
    if (outcome !== TIMED_OUT && outcome.kind === 'Connected') {
      this.#failures = 0;
      return { ...server, message: `${server.message} An agent is connected.` };
    }
    this.#known = undefined;
    if (outcome === TIMED_OUT) {
      this.#failures++;
      return inconclusive(server, `no response within ${limits.timeoutMs / 1000} s`);
    }
    if (outcome.kind === 'NoNodes') {
      this.#failures = 0;
      return withoutNodes(server);
    }
    this.#failures++;
    return failed(server, outcome);
  }

  async #outcome(client: AgentClient, signal: AbortSignal): Promise<Outcome> {
    let isReady = false;
    try {
      const node = await this.#next(client, signal);
      if (node === undefined) return { kind: 'NoNodes' };
      ({ isReady } = node);
      const status = await client.kubeletStatus(node.name, { signal });
      if (status < BAD_GATEWAY && status !== TOO_MANY_REQUESTS) {
        this.#known = node.name;
        return { kind: 'Connected' };
      }
      const error = new KubeError('ServerError', `the response has status ${status}`, { status });
      return { kind: 'Failed', error, isReady };
    } catch (error) {
      if (!isKubeError(error)) throw error;
      return { kind: 'Failed', error, isReady };
    }
  }

  /** Returns the node to request; undefined if there is none. The readiness of a known node is not read. */
  async #next(client: AgentClient, signal: AbortSignal): Promise<Candidate | undefined> {
    if (this.#known !== undefined) return { name: this.#known, isReady: false };
    const { items } = await client.list<Node>(RESOURCES.node, {
      limit: LISTED_NODES,
      trim: conditionsOnly,
      signal,
    });
    const nodes = items.map((node) => ({ name: node.metadata.name, isReady: isReady(node) }));
    const ready = nodes.filter((node) => node.isReady);
    const tried = (ready.length > 0 ? ready : nodes).slice(0, TRIED_NODES);
    return tried[this.#failures % tried.length];
  }
}

/** Trims a node, whose list of images may be long. */
function conditionsOnly({ apiVersion, kind, metadata: { name }, status }: Node): Node {
  const conditions = (status?.conditions ?? []).filter(({ type }) => type === 'Ready');
  return { apiVersion, kind, metadata: { name }, status: { conditions } };
}

function isReady({ status }: Node): boolean {
  return status?.conditions?.[0]?.status === 'True';
}

/** Returns the result without a response of a kubelet. Only machine-readable fields decide. */
function failed(server: HopResult, { error, isReady }: Outcome & { kind: 'Failed' }): HopResult {
  const { target } = server;
  const { status, statusMessage } = error;
  if (error.reason === 'Forbidden') {
    const why = `the kubeconfig of the tenant lacks a permission: ${statusMessage ?? error.message}`;
    return hopResult('konnectivity', 'AgentCheckForbidden', target, unknown(server, why));
  }
  // The API server sends this Status if it cannot dial the kubelet.
  if (status === 503 && statusMessage !== undefined && isReady) {
    const message = `The API server reaches no kubelet of a ready node through konnectivity: ${statusMessage}`;
    const values = { endpoint: target };
    return hopResult('konnectivity', 'KonnectivityNoAgent', target, sentence(message), values);
  }
  return inconclusive(server, error.message);
}

function inconclusive(server: HopResult, why: string): HopResult {
  return hopResult('konnectivity', 'AgentCheckInconclusive', server.target, unknown(server, why));
}

function withoutNodes(server: HopResult): HopResult {
  const message = `${server.message} The tenant has no nodes, so it has no agents.`;
  return server.code === 'Passed'
    ? hopResult('konnectivity', 'NoNodes', server.target, message)
    : { ...server, message };
}

function unknown({ message }: HopResult, why: string): string {
  return sentence(`${message} Whether an agent is connected is unknown: ${why}`);
}
