/** What is measured: who stands between client and backend, what they speak, and what the client does. */

/** Where the program under test stands: at the edge, or on a worker with an edge behind it. */
export type Role = 'gateway' | 'proxy';
/** `plain`: a hello, then bytes as they are, so that the proxy is the dearest part; `tls`: a real handshake. */
export type Kind = 'plain' | 'tls';
/** What the client does. */
export type Load = 'connect' | 'request' | 'download' | 'upload';

/** One thing to measure of every peer of its role. */
export interface Case {
  readonly id: string;
  readonly role: Role;
  readonly kind: Kind;
  readonly load: Load;
}

/** About what `kubectl get` of one small object sends and gets. */
export const SMALL = ['--up', '84', '--down', '700'];
const BULK_BYTES = String(10 * 1024 * 1024);

/** What a load is called and counted in. */
export const LOADS: Readonly<Record<Load, { readonly title: string; readonly unit: string }>> = {
  connect: { title: 'new connection', unit: 'us' },
  request: { title: 'small request', unit: 'us' },
  download: { title: 'bulk down', unit: 's/GB' },
  upload: { title: 'bulk up', unit: 's/GB' },
};

/** How the load generator is told to do a load. */
export function loadWords(load: Load, kind: Kind): string[] {
  switch (load) {
    case 'connect':
      // A handshake takes the load generator and the backend about a millisecond: more at a time would only queue.
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

/** Every combination. */
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

/** Measurements of another form: memory at rest and with idle connections, and many routes. */
export const OTHER_CASES = [
  'gateway.plain.idle',
  'proxy.plain.idle',
  'proxy.tls.idle',
  'gateway.routes',
] as const;

/** Processor time for one unit of the load: microseconds for each completed one, or seconds for 10^9 bytes. */
export function costOf(
  load: Load,
  counted: { readonly processorNs: number; readonly completed: number; readonly bytes: number },
): number {
  return load === 'download' || load === 'upload'
    ? counted.processorNs / counted.bytes
    : counted.processorNs / 1000 / counted.completed;
}

/** Does a case's id have all the words of this choice, as in `gateway.plain` or `request`? */
export function isChosen(id: string, choice: string): boolean {
  const words = id.split('.');
  return choice.split('.').every((word) => words.includes(word));
}
