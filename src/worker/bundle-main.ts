/** Builds the workflow bundle ahead of time: into the cache, or with `--image` to its place in an image. */
import { workflowBundle, writeBundle } from "../temporal/workflow-bundle.ts";

if (process.argv.includes("--image")) process.stdout.write(`${await writeBundle()}\n`);
else await workflowBundle();
