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
  gauge('files', 'Number of YAML and JSON files in the folder.', () => state.files);
  gauge(
    'faults',
    'Number of faults in the folder. The last valid objects of an invalid file stay applied.',
    () => state.faults,
  );
  gauge(
    'readable',
    'Whether the folder is applied: 1, or 0 if it cannot be read or is empty, and its last objects stay applied.',
    () => (state.problem === undefined ? 1 : 0),
  );
}
