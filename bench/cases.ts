/**
 * The benchmark cases: which program is between client and backend, which protocol is used, and what the client does.
 */

/** Where the program under test runs: at the edge, or on a worker with an edge behind it. */
export type Role = 'gateway' | 'proxy';
/** `plain`: a hello followed by plain bytes, so that the proxy takes most of the CPU time; `tls`: a real handshake. */
export type Kind = 'plain' | 'tls';
/** What the client does. */
export type Load = 'connect' | 'request' | 'download' | 'upload';

/** One measurement for every peer of a role. */
export interface Case {
  readonly id: string;
  readonly role: Role;
  readonly kind: Kind;
  readonly load: Load;
}

/** Sizes of a typical `kubectl get` of one small object. */
export const SMALL = ['--up', '84', '--down', '700'];
const BULK_BYTES = String(10 * 1024 * 1024);

/** Title and unit of each load. */
export const LOADS: Readonly<Record<Load, { readonly title: string; readonly unit: string }>> = {
  connect: { title: 'new connection', unit: 'us' },
  request: { title: 'small request', unit: 'us' },
  download: { title: 'bulk down', unit: 's/GB' },
  upload: { title: 'bulk up', unit: 's/GB' },
};

/** Returns the arguments of the load generator for a load. */
export function loadArguments(load: Load, kind: Kind): string[] {
  switch (load) {
    case 'connect':
      // A handshake takes the load generator and the backend about a millisecond, so more connections would only queue.
      return ['--connections', kind === 'plain' ? '64' : '16', '--again', ...SMALL];
    case 'request':
      return ['--connections', '64', ...SMALL];
    case 'download':
      return ['--connections', '4', '--down', BULK_BYTES];
    case 'upload':
      return ['--connections', '4', '--up', BULK_BYTES];
  }
}

const ROLES: readonly Role[] = ['gateway', 'proxy'];
const KINDS: readonly Kind[] = ['plain', 'tls'];

/** Every combination of role, kind and load. */
export const ALL_CASES: readonly Case[] = ROLES.flatMap((role) =>
  KINDS.flatMap((kind) =>
    (Object.keys(LOADS) as Load[]).map((load) => ({
      id: `${role}.${kind}.${load}`,
      role,
      kind,
      load,
    })),
  ),
);

/** Other measurements: memory at rest and with idle connections, and many routes. */
export const OTHER_CASES = [
  'gateway.plain.idle',
  'proxy.plain.idle',
  'proxy.tls.idle',
  'gateway.routes',
] as const;

/** CPU time per unit of the load: microseconds per completed connection or request, or seconds per 10^9 bytes. */
export function costOf(
  load: Load,
  result: { readonly processorNs: number; readonly completed: number; readonly bytes: number },
): number {
  return load === 'download' || load === 'upload'
    ? result.processorNs / result.bytes
    : result.processorNs / 1000 / result.completed;
}

/** Reports whether the id of a case contains all words of a choice such as `gateway.plain` or `request`. */
export function isChosen(id: string, choice: string): boolean {
  const words = id.split('.');
  return choice.split('.').every((word) => words.includes(word));
}
