/** Metrics of the folder. */
import type { Metrics } from '../telemetry/metrics.ts';
import type { FolderState } from './sync/folder-sync.ts';

/** Registers the metrics `snicket_folder_*`. */
export function registerFolderMetrics(metrics: Metrics, state: Readonly<FolderState>): void {
  const gauge = (name: string, help: string, value: () => number) =>
    metrics.register({
      name: `snicket_folder_${name}`,
      help,
      type: 'gauge',
      samples: () => [{ value: value() }],
    });
  gauge('files', 'Files of YAML and JSON in the folder.', () => state.files);
  gauge(
    'faults',
    'Things that are wrong in the folder; what a bad file said last stays in force.',
    () => state.faults,
  );
  gauge(
    'readable',
    '1 if the folder is in force; 0 if it cannot be read or is empty, and what it said last is.',
    () => (state.problem === undefined ? 1 : 0),
  );
}
