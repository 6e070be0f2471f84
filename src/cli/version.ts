import { Command, Option } from 'commander';
import manifest from '../../package.json' with { type: 'json' };

/** What `snicket version` reports: enough to reproduce a bug on the same build. */
export interface Version {
  readonly version: string;
  readonly bun: string;
  /** Operating system and processor as Bun names them: `linux-x64`. */
  readonly platform: string;
}

/** The version of this build and of the runtime it is on. */
export function currentVersion(): Version {
  return {
    version: manifest.version,
    bun: Bun.version,
    platform: `${process.platform}-${process.arch}`,
  };
}

/** `snicket version`: one line, or JSON with `-o json`. */
export function versionCommand(): Command {
  return new Command('version')
    .description('print the version of snicket and of its runtime')
    .addOption(
      new Option('-o, --output <format>', 'how to print it')
        .choices(['text', 'json'])
        .default('text'),
    )
    .action(({ output }: { output: 'text' | 'json' }) => {
      const current = currentVersion();
      switch (output) {
        case 'text':
          console.log(`snicket ${current.version} (bun ${current.bun}, ${current.platform})`);
          break;
        case 'json':
          console.log(JSON.stringify(current, null, 2));
          break;
      }
    });
}
