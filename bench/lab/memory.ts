import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { childrenOf } from '../../world/machine/identity.ts';

/** Resident memory of a process and its children, in bytes. */
export function residentBytes(pid: number): number {
  return statusBytes(pid, 'VmRSS');
}

/**
 * Anonymous resident memory of a process and its children, in bytes. The remaining memory is file-backed: code that
 * processes share and the kernel can reclaim.
 */
export function anonymousBytes(pid: number): number {
  return statusBytes(pid, 'RssAnon');
}

function statusBytes(pid: number, field: 'VmRSS' | 'RssAnon'): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const kilobytes = Number(new RegExp(`^${field}:\\s+(\\d+)`, 'm').exec(status)?.[1] ?? 0);
  const children = childrenOf(pid).map((child) => statusBytes(child, field));
  return children.reduce((sum, bytes) => sum + bytes, kilobytes * 1024);
}

/**
 * Number of open sockets of a process. Pipes do not count, because Go keeps pipes of closed connections for a while.
 */
export function openSockets(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).filter((fd) => isSocket(`/proc/${pid}/fd/${fd}`)).length;
}

function isSocket(link: string): boolean {
  try {
    return readlinkSync(link).startsWith('socket:');
  } catch (error) {
    // Closed since the directory was read.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
}
