/**
 * The objects of `snicket run`, from its state folder.
 */
import { join } from 'node:path';
import { parse } from 'yaml';
import { listAt, textAt, textsAt } from '../../kube/unstructured.ts';
import { isSamePath } from '../../files/real-path.ts';
import { readWatchedAsync } from '../../files/read-watched.ts';
import type { KubeObject } from '../../kube/object.ts';
import { stateOwner, type StateOwner } from '../../standalone/state/state-owner.ts';
import { STATUS_FILE } from '../../standalone/state/status-file.ts';
import { isSelected, type Choice } from '../flags/management-flags.ts';
import { CommandError } from '../output/messages.ts';
import { shellWord } from '../../text/shell-word.ts';
import type { OperatorState } from './operator-state.ts';
import type { StatusObjects } from './status-view.ts';
import type { LiveStatus, StatusSource } from './status-source.ts';

const POLL_INTERVAL_MS = 500;

/** Paths of a {@link StateSource}. */
interface StatePaths {
  /** The path of the state folder. Default: its name. */
  readonly path?: string;
  /** The folder of `snicket run` that the state must belong to, with its path. Default: any. */
  readonly owner?: { readonly name: string; readonly path: string } | undefined;
}

/** A state folder as a source of status objects. */
export class StateSource implements StatusSource {
  readonly choice: Choice;
  readonly #folder: string;
  readonly #path: string;
  readonly #owner: StatePaths['owner'];

  constructor(folder: string, choice: Choice, { path = folder, owner }: StatePaths = {}) {
    this.#folder = folder;
    this.#path = path;
    this.#owner = owner;
    this.choice = choice;
  }

  async read(): Promise<StatusObjects> {
    return this.#objects(await this.#text(), stateOwner(this.#path));
  }

  follow(onChange: () => void, signal: AbortSignal): { current(): LiveStatus | undefined } {
    let text: string | undefined;
    let holder: StateOwner | undefined;
    let followed: LiveStatus | undefined;
    let isPolling = false;
    const poll = async () => {
      if (isPolling) return;
      isPolling = true;
      try {
        const next = await this.#text();
        const nextHolder = stateOwner(this.#path);
        if (next === text && nextHolder === holder && followed?.staleReason === undefined) return;
        text = next;
        holder = nextHolder;
        followed = { objects: this.#objects(next, holder) };
      } catch (error) {
        if (!(error instanceof CommandError)) throw error;
        const { objects = { edges: [], exposures: [] } } = followed ?? {};
        followed = { objects, staleReason: error.text };
      } finally {
        isPolling = false;
      }
      if (!signal.aborted) onChange();
    };
    void poll();
    const timer = setInterval(() => void poll(), POLL_INTERVAL_MS);
    signal.addEventListener('abort', () => clearInterval(timer));
    return { current: () => followed };
  }

  async #text(): Promise<string> {
    const path = join(this.#folder, STATUS_FILE);
    try {
      return (await readWatchedAsync(join(this.#path, STATUS_FILE))).toString();
    } catch (error) {
      if (!(error instanceof Error && 'code' in error)) throw error;
      throw new CommandError(
        `cannot read ${path}: ${String(error.code)}`,
        `pass the --state folder of \`snicket run\`, and check that it is running`,
      );
    }
  }

  #objects(text: string, holder: StateOwner): StatusObjects {
    const list = this.#list(text);
    const folder = textAt(list, 'folder');
    this.#rejectOtherFolder(folder);
    const items = listAt(list, 'items').filter(
      (item): item is KubeObject => textAt(item, 'metadata', 'name') !== undefined,
    );
    const ofKind = (kind: string) => items.filter((object) => object.kind === kind);
    return {
      edges: ofKind('Edge'),
      exposures: ofKind('Exposure').filter(({ metadata }) => isSelected(this.choice, metadata)),
      tenantRoutes: ofKind('TenantRoute'),
      operator: this.#operator(holder),
      faults: textsAt(list, 'faults'),
      folder,
    };
  }

  #operator(holder: StateOwner): OperatorState {
    const folder = this.#folder;
    switch (holder) {
      case 'running':
        return { state: 'running', message: `running (state ${folder})` };
      case 'none':
        return {
          state: 'down',
          message: `not running (state ${folder}); showing its last status`,
          action: `start it: snicket run FOLDER --state ${shellWord(folder)}`,
        };
      case 'unknown':
        return {
          state: 'unknown',
          message: `no permission to check whether it is running (state ${folder})`,
          action: `run as the user that owns ${folder}`,
        };
    }
  }

  /** Refuses the state of another folder, and one that an earlier version wrote, which does not name its folder. */
  #rejectOtherFolder(folder: string | undefined): void {
    const owner = this.#owner;
    if (owner === undefined) return;
    if (folder === undefined) {
      throw new CommandError(
        `the state ${this.#folder} does not name its folder`,
        `restart \`snicket run\`, which adds it, or pass --state ${shellWord(this.#folder)} without -f`,
      );
    }
    if (isSamePath(folder, owner.path)) return;
    throw new CommandError(
      `the state ${this.#folder} belongs to the folder ${folder}, not to ${owner.name}`,
      `pass -f ${shellWord(folder)}, or --state with the state folder of ${owner.name}`,
    );
  }

  #list(text: string): unknown {
    const path = join(this.#folder, STATUS_FILE);
    try {
      const list: unknown = parse(text);
      if (textAt(list, 'kind') === 'List') return list;
    } catch (error) {
      throw new CommandError(`${path} is not valid YAML: ${String(error)}`);
    }
    throw new CommandError(`${path} was not written by \`snicket run\`: it is not a List`);
  }
}
