import { providerParts } from '../parts/catalogue.ts';
import { filesFolder } from '../parts/module-files.ts';
import type { ProviderKind } from './provider.ts';

/** Kamaji in the last version that its Go module has; the calendar-versioned ones are in no registry. */
export const kamaji: ProviderKind = {
  name: 'kamaji',
  part: providerParts.kamaji,
  group: 'kamaji.clastix.io',
  versions: { kubernetes: 'v1.30.2', konnectivity: 'v0.0.32' },
  flags: ['--disable-telemetry'],
  definitionsFolder: () => filesFolder(providerParts.kamaji, 'crds'),
  prepare: () => Promise.resolve(),
};
