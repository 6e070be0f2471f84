/**
 * Programs of Debian unstable, for peers that are newer than the release of this machine. They are unpacked with all
 * dependencies, including the C library, and run with that library's loader. Nothing is installed.
 */
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { run } from '../../world/machine/command.ts';
import { architecture, cacheFolder } from '../../world/parts/cache.ts';
import { workFolder } from '../../world/parts/work-folder.ts';
import { MissingProgramError } from './missing.ts';

const KEYRING = '/usr/share/keyrings/debian-archive-keyring.gpg';

const LIBRARIES: Readonly<Record<string, { folder: string; loader: string }>> = {
  amd64: { folder: 'x86_64-linux-gnu', loader: 'ld-linux-x86-64.so.2' },
  arm64: { folder: 'aarch64-linux-gnu', loader: 'ld-linux-aarch64.so.1' },
};

/** A tree of unpacked packages. */
export class UnstableTree {
  readonly root: string;

  constructor(root: string) {
    this.root = root;
  }

  /** Returns the command line of a program by its path in the tree. */
  command(path: string): string[] {
    const { folder, loader } = libraries();
    const libraryPath = join(this.root, 'usr/lib', folder);
    return [join(libraryPath, loader), '--library-path', libraryPath, join(this.root, path)];
  }
}

/** Returns a tree of the packages and their dependencies, from the cache if possible. */
export async function unstableTree(packages: readonly string[]): Promise<UnstableTree> {
  libraries();
  const digest = createHash('sha256').update(JSON.stringify(packages)).digest('hex').slice(0, 8);
  const root = join(cacheFolder(), 'bench', `unstable-${architecture}-${digest}`);
  if (existsSync(root)) return new UnstableTree(root);
  if (!Bun.which('apt-get') || !existsSync(KEYRING)) {
    throw new MissingProgramError(
      `${packages.join(', ')} of Debian unstable are not available: they need apt-get and ${KEYRING}`,
    );
  }
  mkdirSync(join(cacheFolder(), 'bench'), { recursive: true });
  const work = workFolder(root);
  await download(work, packages);
  await unpack(work);
  renameSync(join(work, 'root'), root);
  rmSync(work, { recursive: true });
  return new UnstableTree(root);
}

async function download(work: string, packages: readonly string[]): Promise<void> {
  for (const name of ['lists/partial', 'archives/partial'])
    mkdirSync(join(work, name), { recursive: true });
  const source = `deb [signed-by=${KEYRING}] ${await mirror()} unstable main\n`;
  writeFileSync(join(work, 'sources.list'), source);
  // An empty status makes apt download the C library and all other dependencies.
  writeFileSync(join(work, 'status'), '');
  const settings = {
    'Dir::Etc::SourceList': `${work}/sources.list`,
    'Dir::Etc::SourceParts': '/dev/null',
    'Dir::State::Lists': `${work}/lists`,
    'Dir::State::Status': `${work}/status`,
    'Dir::Cache::Archives': `${work}/archives`,
    'Dir::Cache::pkgcache': `${work}/pkgcache.bin`,
    'Dir::Cache::srcpkgcache': `${work}/srcpkgcache.bin`,
    'Debug::NoLocking': 'true',
    'APT::Sandbox::User': 'root', // the user _apt cannot write below a home directory
  };
  const options = Object.entries(settings).flatMap(([name, value]) => ['-o', `${name}=${value}`]);
  const apt = ['apt-get', '--quiet', '--yes', ...options];
  await run([...apt, 'update'], { timeoutMs: 300_000 });
  const install = ['--no-install-recommends', '--download-only', 'install', ...packages];
  await run([...apt, ...install], { timeoutMs: 600_000 });
}

async function unpack(work: string): Promise<void> {
  const root = join(work, 'root');
  for (const name of ['bin', 'sbin', 'lib', 'lib64']) {
    mkdirSync(join(root, 'usr', name), { recursive: true });
    symlinkSync(join('usr', name), join(root, name));
  }
  const archives = readdirSync(join(work, 'archives')).filter((name) => name.endsWith('.deb'));
  for (const archive of archives) {
    // dpkg-deb --extract would replace links with directories.
    const tar = `dpkg-deb --fsys-tarfile "$1" | tar --extract --keep-directory-symlink --directory "$2"`;
    await run(['sh', '-c', tar, 'sh', join(work, 'archives', archive), root]);
  }
}

/** Returns the Debian mirror that apt uses on this machine. @throws MissingProgramError if it uses none */
async function mirror(): Promise<string> {
  const format = ['--format', '$(REPO_URI)', 'Created-By: Packages'];
  const { stdout } = await run(['apt-get', 'indextargets', ...format]);
  const found = stdout.split('\n').find((uri) => uri.endsWith('/debian/'));
  if (found === undefined) {
    throw new MissingProgramError(
      'programs of Debian unstable need a Debian mirror in the sources of apt',
    );
  }
  return found;
}

function libraries(): { folder: string; loader: string } {
  const library = LIBRARIES[architecture];
  if (!library)
    throw new MissingProgramError(
      `packages of Debian unstable require amd64 or arm64 (running on ${architecture})`,
    );
  return library;
}
