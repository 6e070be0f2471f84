import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { run } from '../machine/command.ts';
import { partFolder } from './cache.ts';
import type { DebianPart } from './catalog.ts';
import { workFolder } from './work-folder.ts';

const PROGRAM_FOLDERS = ['usr/sbin', 'usr/bin'];

/** Returns the path of a program of this part, in the unpacked packages or on the machine itself. */
export function debianProgram(part: DebianPart, program: string): string | undefined {
  const unpacked = PROGRAM_FOLDERS.map((folder) => join(partFolder(part), folder, program)).find(
    (path) => existsSync(path),
  );
  return (
    unpacked ?? Bun.which(program, { PATH: `${process.env['PATH']}:/usr/sbin:/sbin` }) ?? undefined
  );
}

/** Reports whether all programs of this part can be found. */
export function debianPartReady(part: DebianPart): boolean {
  return (
    existsSync(partFolder(part)) && part.programs.every((program) => debianProgram(part, program))
  );
}

/**
 * Downloads the packages and their missing dependencies, and unpacks them into the cache. Nothing is installed; apt
 * keeps its lists and archives in the cache too.
 */
export async function unpackDebianPart(part: DebianPart): Promise<void> {
  const folder = partFolder(part);
  if (part.programs.every((program) => debianProgram(part, program))) {
    // The machine has all programs. Workers overlay an empty folder on their /usr.
    mkdirSync(join(folder, 'usr'), { recursive: true });
    return;
  }
  const work = workFolder(folder);
  for (const name of ['lists/partial', 'archives/partial', 'root/usr'])
    mkdirSync(join(work, name), { recursive: true });
  const apt = [
    'apt-get',
    '--quiet',
    '--yes',
    '-o',
    `Dir::State::Lists=${work}/lists`,
    '-o',
    `Dir::Cache::Archives=${work}/archives`,
    '-o',
    `Dir::Cache::pkgcache=${work}/pkgcache.bin`,
    '-o',
    `Dir::Cache::srcpkgcache=${work}/srcpkgcache.bin`,
    '-o',
    'Debug::NoLocking=true', // apt writes only to the cache
    '-o',
    'APT::Sandbox::User=root', // the user _apt cannot write below a home folder
  ];
  await run([...apt, 'update'], { timeoutMs: 300_000 });
  await run([...apt, '--no-install-recommends', '--download-only', 'install', ...part.packages], {
    timeoutMs: 300_000,
  });
  for (const archive of readdirSync(join(work, 'archives')).filter((name) =>
    name.endsWith('.deb'),
  )) {
    await run(['dpkg-deb', '--extract', join(work, 'archives', archive), join(work, 'root')]);
  }
  await mergeIntoUsr(join(work, 'root'));
  linkAlternatives(join(work, 'root', 'usr/sbin'));
  rmSync(folder, { recursive: true, force: true });
  renameSync(join(work, 'root'), folder);
  rmSync(work, { recursive: true });
  const missing = part.programs.filter((program) => !debianProgram(part, program));
  if (missing.length > 0)
    throw new Error(
      `packages ${part.packages.join(', ')} are unpacked in ${folder}, but lack ${missing.join(', ')}`,
    );
}

/**
 * Merges /bin, /sbin and /lib into /usr. Some packages still contain them, although they are links into /usr on a
 * machine.
 */
async function mergeIntoUsr(root: string): Promise<void> {
  for (const name of ['bin', 'sbin', 'lib', 'lib64'].filter((folder) =>
    existsSync(join(root, folder)),
  )) {
    await run(['cp', '-a', join(root, name), join(root, 'usr')]);
    rmSync(join(root, name), { recursive: true });
  }
}

/** Creates the links that Debian creates when it installs the package. */
function linkAlternatives(sbin: string): void {
  if (!existsSync(join(sbin, 'xtables-nft-multi'))) return;
  for (const family of ['iptables', 'ip6tables']) {
    for (const suffix of ['', '-save', '-restore']) {
      const link = join(sbin, family + suffix);
      if (!existsSync(link)) symlinkSync('xtables-nft-multi', link);
    }
  }
}
