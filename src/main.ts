import { processIo } from './cli/io/process-io.ts';
import { runSnicket } from './cli/run-snicket.ts';

await runSnicket(process.argv.slice(2), processIo());
