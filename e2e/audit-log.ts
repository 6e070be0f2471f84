/**
 * The audit log of an API server: every write with its client, its time and its result. It survives a restart of the API
 * server, unlike a watch.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import type { Exposure } from './installed-snicket.ts';

/** The fields of an audit event that tests use. */
export interface AuditEvent {
  readonly verb: string;
  readonly sourceIPs: readonly string[];
  /** Microseconds since 1970, because several writes can share a millisecond. */
  readonly receivedUs: number;
  readonly objectRef: {
    readonly resource: string;
    readonly subresource?: string;
    readonly namespace?: string;
    readonly name?: string;
  };
  readonly responseStatus: { readonly code: number };
  /** Only for Exposures. */
  readonly responseObject?: Exposure;
}

interface LoggedEvent extends Omit<AuditEvent, 'receivedUs'> {
  readonly requestReceivedTimestamp: string;
}

const POLICY = {
  apiVersion: 'audit.k8s.io/v1',
  kind: 'Policy',
  omitStages: ['RequestReceived'],
  rules: [
    { level: 'None', verbs: ['get', 'list', 'watch'] },
    {
      level: 'RequestResponse',
      resources: [{ group: 'snicket.dev', resources: ['exposures', 'exposures/status'] }],
    },
    { level: 'Metadata' },
  ],
};

/** The audit log of one API server, in a folder of the test. */
export class AuditLog {
  readonly #log: string;
  readonly #policy: string;

  /** Writes the policy. An API server that starts with {@link flags} writes the log. */
  constructor(folder: string, cluster: string) {
    this.#log = join(folder, `${cluster}-audit.jsonl`);
    this.#policy = join(folder, `${cluster}-audit-policy.yaml`);
    writeFileSync(this.#policy, stringify(POLICY));
  }

  get flags(): readonly string[] {
    return [`--audit-policy-file=${this.#policy}`, `--audit-log-path=${this.#log}`];
  }

  /** All writes so far in the order in which the API server received them, refused ones included. */
  writes(): readonly AuditEvent[] {
    if (!existsSync(this.#log)) return [];
    const text = readFileSync(this.#log, 'utf8');
    // The API server may be in the middle of a line.
    const lines = text.slice(0, text.lastIndexOf('\n') + 1).split('\n');
    return lines
      .filter((line) => line !== '')
      .map((line) => {
        const { requestReceivedTimestamp, ...event } = JSON.parse(line) as LoggedEvent;
        return { ...event, receivedUs: microseconds(requestReceivedTimestamp) };
      })
      .filter(({ objectRef, responseStatus }) => objectRef && responseStatus)
      .toSorted((first, second) => first.receivedUs - second.receivedUs);
  }
}

/** Reports whether the API server accepted the write. */
export function isAccepted({ responseStatus }: AuditEvent): boolean {
  return responseStatus.code < 300;
}

/** Formats an event as `patch exposures/status tenant-a/a 200`. */
export function auditText({ verb, objectRef, responseStatus }: AuditEvent): string {
  const { resource, subresource, namespace, name } = objectRef;
  const kind = [resource, subresource].filter(Boolean).join('/');
  return `${verb} ${kind} ${[namespace, name].filter(Boolean).join('/')} ${responseStatus.code}`;
}

/** Parses a time such as 2026-01-01T00:00:00.123456Z. */
function microseconds(text: string): number {
  const fraction = /\.(\d+)Z$/.exec(text)?.[1] ?? '0';
  const seconds = Date.parse(text.replace(/\.\d+Z$/, 'Z')) / 1000;
  return seconds * 1_000_000 + Number(fraction.padEnd(6, '0'));
}
