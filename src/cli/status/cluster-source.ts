/**
 * The objects of a management cluster, as far as the user may read them.
 */
import type { KubeClient } from '../../kube/client/client.ts';
import { Informer } from '../../kube/informer/informer.ts';
import { isKubeError } from '../../kube/kube-error.ts';
import type { KubeObject } from '../../kube/object.ts';
import { RESOURCES } from '../../kube/resource.ts';
import { isSelected, type Choice } from '../flags/management-flags.ts';
import { readOperator, type OperatorState } from './operator-state.ts';
import type { StatusObjects } from './status-view.ts';
import type { LiveStatus, StatusSource } from './status-source.ts';

/** Interval between two checks of the operator. Its Lease changes every two seconds, too often for a watch. */
const OPERATOR_INTERVAL_MS = 5000;

/** A management cluster as a source of status objects. */
export class ClusterSource implements StatusSource {
  readonly choice: Choice;
  readonly #client: KubeClient;
  readonly #operatorNamespace: string;

  constructor(client: KubeClient, choice: Choice, operatorNamespace: string) {
    this.choice = choice;
    this.#client = client;
    this.#operatorNamespace = operatorNamespace;
  }

  async read(signal: AbortSignal): Promise<StatusObjects> {
    const { namespace } = this.choice;
    // Exposures first: nothing can be shown without them, so their error is the one to report.
    const { items } = await this.#client.list(RESOURCES.exposure, { namespace, signal });
    const [edges, operator] = await Promise.all([this.#edges(signal), this.#operator(signal)]);
    return { edges, exposures: this.#chosen(items), operator };
  }

  follow(onChange: () => void, signal: AbortSignal): { current(): LiveStatus | undefined } {
    const client = this.#client;
    const selection = { namespace: this.choice.namespace };
    const exposures = new Informer({ client, resource: RESOURCES.exposure, selection });
    const edges = new Informer({ client, resource: RESOURCES.edge });
    let operator: OperatorState | undefined;
    let isPolling = false;
    const pollOperator = async () => {
      // One request at a time, so that requests to an unresponsive server do not pile up.
      if (isPolling) return;
      isPolling = true;
      operator = await this.#operator(signal);
      isPolling = false;
      if (!signal.aborted) onChange();
    };
    for (const informer of [exposures, edges]) {
      informer.onChange(onChange);
      informer.onFailure(onChange);
      void informer.run(signal);
    }
    void pollOperator();
    const timer = setInterval(() => void pollOperator(), OPERATOR_INTERVAL_MS);
    signal.addEventListener('abort', () => clearInterval(timer));
    const mayNotSeeEdges = () => isKubeError(edges.state.lastError, 'Forbidden');
    return {
      current: () => {
        if (!exposures.hasSynced || !(edges.hasSynced || mayNotSeeEdges())) return undefined;
        const { lastError } = exposures.state;
        return {
          objects: {
            edges: mayNotSeeEdges() ? undefined : edges.list(),
            exposures: this.#chosen(exposures.list()),
            operator,
          },
          staleReason: lastError?.message,
        };
      },
    };
  }

  /** Returns undefined if the user may not list Edges. */
  async #edges(signal: AbortSignal): Promise<readonly KubeObject[] | undefined> {
    try {
      return (await this.#client.list(RESOURCES.edge, { signal })).items;
    } catch (error) {
      if (isKubeError(error, 'Forbidden')) return undefined;
      throw error;
    }
  }

  async #operator(signal: AbortSignal): Promise<OperatorState> {
    return readOperator(this.#client, { namespace: this.#operatorNamespace, signal });
  }

  #chosen(exposures: readonly KubeObject[]): readonly KubeObject[] {
    return exposures.filter(({ metadata }) => isSelected(this.choice, metadata));
  }
}
