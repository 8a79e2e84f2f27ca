/** The guardian runs this after its start was killed: it ends that start's processes, and logs it. */
import { stopProcessesOf } from "./process-record.ts";

const [dataDir, owner] = process.argv.slice(2) as [string, string];
await stopProcessesOf(dataDir, owner, (line) =>
  process.stdout.write(`${new Date().toISOString()} ${line}\n`),
);
