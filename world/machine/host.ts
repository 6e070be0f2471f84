import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createCgroup, hierarchies } from './cgroup.ts';
import { run, type Output, type RunOptions } from './command.ts';
import { isRunning, signal, type ProcessIdentity } from './identity.ts';
import type { Ledger } from './ledger.ts';
import { Daemon } from './daemon.ts';
import { waitFor } from '../wait.ts';

/** Adds a program to the cgroups of its host before it runs, so that its child processes are in them too. */
const JOIN_CGROUPS =
  'for c in $HOST_CGROUPS; do echo $$ > "$c/cgroup.procs" || exit 71; done; unset HOST_CGROUPS; exec "$@"';

/**
 * In cgroup version 2, a cgroup that enables controllers for its children, as kubelet's root must, cannot contain
 * processes. All processes of such a host are therefore in a leaf. The host's first process moves there after it has
 * made the parent the root of its cgroup namespace.
 */
const LEAF = 'init';
// Uses only shell builtins, because Daemon.start takes the first child process for the host's first process.
const MOVE_TO_LEAF = 'echo $$ > "$HOST_LEAF/cgroup.procs" || exit 71; exec "$@"';

/** Options of {@link Host.create}. */
export interface HostOptions {
  readonly name: string;
  /** A worker also gets its own /sys, /var, /run and cgroup mounts, as kubelet needs them. Default false. */
  readonly worker?: boolean;
  /** Folders that a worker sees as /run/snicket/NAME. */
  readonly shared?: Readonly<Record<string, string>>;
  /** Folder whose usr/ is overlaid on the host's /usr, for programs that the machine does not have. */
  readonly tools?: string;
  /** Folder that becomes a memory disk of this size, visible on this host only. */
  readonly disk?: { readonly path: string; readonly sizeMiB: number };
  /** Address of the resolver for programs on this host. */
  readonly nameserver: string;
}

/**
 * A machine of the world, with its own network, mounts, processes, host name and cgroups. Its namespaces have no names,
 * so killing its processes removes the host.
 */
export class Host {
  readonly name: string;
  /** The host's own folder on the machine. On a worker, its files/ is /run/snicket/files. */
  readonly folder: string;
  readonly #ledger: Ledger;
  readonly #init: ProcessIdentity;
  readonly #cgroups: readonly string[];
  readonly #temporary: string;
  readonly #daemons = new Map<string, Daemon>();

  private constructor(ledger: Ledger, name: string, saved: SavedHost) {
    this.name = name;
    this.folder = join(ledger.folder, name);
    this.#ledger = ledger;
    this.#init = saved.init;
    this.#cgroups = saved.cgroups;
    this.#temporary = saved.temporary;
  }

  /** Creates a host and waits until its namespaces are ready. */
  static async create(ledger: Ledger, options: HostOptions): Promise<Host> {
    ledger.assertOpen();
    const folder = join(ledger.folder, options.name);
    if (existsSync(folder))
      throw new Error(`world ${ledger.id} already has a host '${options.name}'`);
    for (const name of ['files', 'tmp']) mkdirSync(join(folder, name), { recursive: true });
    const trees = hierarchies();
    const cgroups = createCgroup(`${ledger.cgroup}/${options.name}`);
    const onlyV2 = trees.every((tree) => tree.version === 2);
    const leaves = onlyV2 ? cgroups.map((path) => join(path, LEAF)) : cgroups;
    for (const path of leaves) mkdirSync(path, { recursive: true });
    const init = await Daemon.start(
      {
        name: `${options.name}/init`,
        argv: [
          ...['sh', '-c', JOIN_CGROUPS, 'sh', 'unshare', '--cgroup'],
          ...['sh', '-c', onlyV2 ? MOVE_TO_LEAF : 'exec "$@"', 'sh'],
          ...[
            'unshare',
            '--mount',
            '--uts',
            '--ipc',
            '--net',
            '--pid',
            '--fork',
            '--kill-child',
            '--mount-proc',
          ],
          ...['bash', join(import.meta.dir, 'host-init.sh')],
        ],
        env: {
          PATH: process.env['PATH'] ?? '',
          HOST_CGROUPS: cgroups.join(' '),
          HOST_LEAF: leaves[0] ?? '',
          HOST_NAME: options.name,
          HOST_FOLDER: folder,
          HOST_NAMESERVER: options.nameserver,
          HOST_DISK: options.disk?.path ?? '',
          HOST_DISK_MIB: String(options.disk?.sizeMiB ?? 0),
          HOST_WORKER: options.worker ? '1' : '',
          HOST_SHARED: Object.entries({ files: join(folder, 'files'), ...options.shared })
            .map(([name, path]) => `${name}=${path}\n`)
            .join(''),
          HOST_TOOLS: options.tools ?? '',
          HOST_CGROUP_TREES: trees
            .filter((tree) => tree.version === 1)
            .map((tree) => tree.controllers)
            .join(' '),
        },
        log: join(folder, 'log', 'init.log'),
      },
      ledger,
    );
    await waitFor(
      `host ${options.name} is up`,
      () => {
        if (!init.running) throw new Error(`host ${options.name} did not come up:\n${init.tail()}`);
        return existsSync(join(folder, 'files', 'up'));
      },
      { everyMs: 5 },
    );
    const temporary = options.worker ? '/var/tmp' : join(folder, 'tmp');
    const saved: SavedHost = { init: init.identity, cgroups: leaves, temporary };
    writeFileSync(join(folder, 'host.json'), JSON.stringify(saved));
    return new Host(ledger, options.name, saved);
  }

  /** Opens a host of a world that another process started. */
  static open(ledger: Ledger, name: string): Host {
    const file = join(ledger.folder, name, 'host.json');
    if (!existsSync(file)) throw new Error(`no host '${name}' in ${ledger.folder}`);
    return new Host(ledger, name, JSON.parse(readFileSync(file, 'utf8')) as SavedHost);
  }

  /** PID of the host's first process, for `nsenter --target` and `ip link ... netns`. */
  get pid(): number {
    if (!isRunning(this.#init)) throw new Error(`host ${this.name} is gone`);
    return this.#init.pid;
  }

  /** Returns the command and environment that run a program of the machine on this host. */
  entering(
    argv: readonly string[],
    machineNetwork = false,
  ): { argv: string[]; env: Record<string, string> } {
    const namespaces = ['mount', 'uts', 'ipc', 'pid', 'cgroup', ...(machineNetwork ? [] : ['net'])];
    const enter = [
      'nsenter',
      `--target=${this.pid}`,
      ...namespaces.map((name) => `--${name}`),
      '--',
    ];
    return {
      argv: ['sh', '-c', JOIN_CGROUPS, 'sh', ...enter, ...argv],
      env: { HOST_CGROUPS: this.#cgroups.join(' '), TMPDIR: this.#temporary },
    };
  }

  /** Runs a command on this host to its end. */
  async exec(argv: readonly string[], options: RunOptions = {}): Promise<Output> {
    const entering = this.entering(argv);
    return run(entering.argv, {
      displayArgv: [`${this.name}:`, ...argv],
      ...options,
      env: { ...entering.env, ...options.env },
    });
  }

  /** Starts a long-running program on this host; it logs to log/NAME.log in the host's folder. */
  async start(name: string, argv: readonly string[], options: StartOptions = {}): Promise<Daemon> {
    const entering = this.entering(argv, options.machineNetwork);
    const daemon = await Daemon.start(
      {
        name: `${this.name}/${name}`,
        argv: entering.argv,
        env: { PATH: process.env['PATH'] ?? '', ...entering.env, ...options.env },
        log: join(this.folder, 'log', `${name}.log`),
      },
      this.#ledger,
    );
    this.#daemons.set(name, daemon);
    return daemon;
  }

  /** Kills all processes of the host at once, as in a power failure. */
  async stop(): Promise<void> {
    // The kernel kills a PID namespace together with its first process.
    signal(this.#init, 'SIGKILL');
    await waitFor(`host ${this.name} is off`, () => !isRunning(this.#init), { everyMs: 10 });
    await Promise.all(this.daemons.map((daemon) => daemon.untilEnded()));
  }

  /** Returns the program with this name on this host. */
  daemon(name: string): Daemon {
    const daemon = this.#daemons.get(name);
    if (!daemon)
      throw new Error(
        `no daemon '${name}' on ${this.name}; daemons: ${[...this.#daemons.keys()].join(', ') || 'none'}`,
      );
    return daemon;
  }

  /** All programs that were started on this host. */
  get daemons(): readonly Daemon[] {
    return [...this.#daemons.values()];
  }
}

/** Options of {@link Host.start}. */
export interface StartOptions {
  /** The program's environment, besides PATH. */
  readonly env?: Readonly<Record<string, string>>;
  /** Keeps the program in the machine's own network. Default false. */
  readonly machineNetwork?: boolean;
}

interface SavedHost {
  readonly init: ProcessIdentity;
  readonly cgroups: readonly string[];
  /** Folder for temporary files. Hosts share the machine's /tmp, where a world must not leave files. */
  readonly temporary: string;
}
