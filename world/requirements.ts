import { existsSync } from 'node:fs';
import { worldsFolder } from './machine/ledger.ts';
import { cacheFolder } from './parts/cache.ts';
import { baseParts, type Part } from './parts/catalog.ts';
import { debianProgram } from './parts/debian.ts';
import { goVersion } from './parts/go.ts';
import { partReady } from './parts/parts.ts';
import { missingForPypi } from './parts/pypi.ts';
import { repository } from './repository.ts';

/** Programs that a world needs on the machine itself, and the Debian package of each. */
const PROGRAMS = {
  bash: 'bash',
  ip: 'iproute2',
  nsenter: 'util-linux',
  unshare: 'util-linux',
  mount: 'mount',
};

/** Returns the missing requirements for running a world, each with a fix. */
export async function missingRequirements(
  parts: readonly Part[] = Object.values(baseParts),
): Promise<string[]> {
  if (process.platform !== 'linux')
    return [`a world requires Linux (running on ${process.platform})`];
  const missing: string[] = [];
  if (process.getuid?.() !== 0)
    missing.push('a world requires root for namespaces and mounts: run it as root or with sudo');
  for (const [program, debianPackage] of Object.entries(PROGRAMS)) {
    if (!Bun.which(program))
      missing.push(`${program} is not on the PATH: install ${debianPackage}`);
  }
  for (const path of [repository, cacheFolder(), worldsFolder]) {
    if (/[:,"\\\n]/.test(path))
      missing.push(
        `'${path}' contains a character that mount options do not support: move the folder`,
      );
  }
  if (!existsSync('/sys/fs/cgroup')) missing.push('no cgroups at /sys/fs/cgroup: mount them');
  const unbuilt = parts.filter((part) => !partReady(part));
  if (unbuilt.some((part) => part.kind === 'go')) missing.push(...(await missingGo()));
  for (const part of unbuilt) {
    if (part.kind === 'debian' && !Bun.which('apt-get')) {
      const absent = part.programs.filter((program) => !debianProgram(part, program));
      if (absent.length > 0) {
        missing.push(
          `${absent.join(', ')} missing, and apt-get not found: install them with the package manager of this system`,
        );
      }
    }
    if (part.kind === 'pypi') missing.push(...(await missingForPypi(part)));
  }
  return missing;
}

async function missingGo(): Promise<string[]> {
  if (!Bun.which('go'))
    return [
      `Go is not on the PATH, and the parts are not built yet: install Go ${goVersion} or newer`,
    ];
  const found = (
    await new Response(Bun.spawn(['go', 'env', 'GOVERSION'], { stderr: 'ignore' }).stdout).text()
  ).trim();
  return olderThan(found.replace(/^go/, ''), goVersion)
    ? [
        `Go ${goVersion} or newer is required to build the parts, found ${found || 'an unknown version'}`,
      ]
    : [];
}

/** Reports whether a version is older, compared by numbers: 1.9 is older than 1.26. */
export function olderThan(version: string, minimum: string): boolean {
  const numbers = (text: string) =>
    text.split(/[.-]|rc|beta/).map((part) => Number.parseInt(part, 10) || 0);
  const [left, right] = [numbers(version), numbers(minimum)];
  for (let i = 0; i < right.length; i++) {
    const difference = (left[i] ?? 0) - (right[i] ?? 0);
    if (difference !== 0) return difference < 0;
  }
  return false;
}
