import { Command, Option } from 'commander';
import { arch, platform } from 'node:os';
import manifest from '../../package.json' with { type: 'json' };
import type { CommandIo } from './io/command-io.ts';

const EXIT_CODES = `
Exit codes:
  0  success
  2  invalid command line`;

/** What `snicket version` reports: enough to reproduce a bug on the same build. */
interface Version {
  readonly version: string;
  readonly bun: string;
  /** Operating system and processor as Bun names them: `linux-x64`. */
  readonly platform: string;
}

/** The version of this build and of the runtime it is on. */
function currentVersion(): Version {
  return {
    version: manifest.version,
    bun: Bun.version,
    platform: `${platform()}-${arch()}`,
  };
}

/** `snicket version`: one line, or a value for programs. */
export function versionCommand(io: CommandIo): Command {
  return new Command('version')
    .description('Print the version of snicket and of its runtime')
    .addOption(
      new Option('-o, --output <format>', 'output format')
        .choices(['text', 'json', 'yaml'])
        .default('text'),
    )
    .addHelpText('after', EXIT_CODES)
    .action(async ({ output }: { output: 'text' | 'json' | 'yaml' }) => {
      const current = currentVersion();
      if (output === 'text') {
        io.stdout.write(`snicket ${current.version} (bun ${current.bun}, ${current.platform})\n`);
        return;
      }
      const { valueText } = await import('./output/output.ts');
      io.stdout.write(valueText(current, output));
    });
}
