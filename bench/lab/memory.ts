import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { childrenOf } from '../../world/machine/identity.ts';

/** Resident memory of a process and its children, in bytes. */
export function residentBytes(pid: number): number {
  return statusBytes(pid, 'VmRSS');
}

/** What of it is their own. The rest is files: code that all who run the program share, and the kernel can take back. */
export function ownBytes(pid: number): number {
  return statusBytes(pid, 'RssAnon');
}

function statusBytes(pid: number, field: 'VmRSS' | 'RssAnon'): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const kilobytes = Number(new RegExp(`^${field}:\\s+(\\d+)`, 'm').exec(status)?.[1] ?? 0);
  const children = childrenOf(pid).map((child) => statusBytes(child, field));
  return children.reduce((sum, bytes) => sum + bytes, kilobytes * 1024);
}

/** How many sockets a process has open. Pipes do not count: Go keeps those of closed connections for a while. */
export function openSockets(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).filter((fd) => isSocket(`/proc/${pid}/fd/${fd}`)).length;
}

function isSocket(link: string): boolean {
  try {
    return readlinkSync(link).startsWith('socket:');
  } catch (error) {
    // Closed since the folder was read.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
}
