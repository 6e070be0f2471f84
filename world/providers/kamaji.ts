import { providerParts } from '../parts/catalog.ts';
import { filesFolder } from '../parts/module-files.ts';
import type { ProviderKind } from './provider.ts';

/** Kamaji in the newest version of its Go module. The calendar-versioned releases are not published as modules. */
export const kamaji: ProviderKind = {
  name: 'kamaji',
  part: providerParts.kamaji,
  group: 'kamaji.clastix.io',
  versions: { kubernetes: 'v1.30.2', konnectivity: 'v0.0.32' },
  flags: ['--disable-telemetry'],
  definitionsFolder: () => filesFolder(providerParts.kamaji, 'crds'),
  prepare: () => Promise.resolve(),
};
