/** Makes the workflow bundle ahead: for the processes of this folder, or with `--image` for those of the image that is being built. */
import { workflowBundle, writeBundle } from "./bundle.ts";

if (process.argv.includes("--image")) process.stdout.write(`${await writeBundle()}\n`);
else await workflowBundle();
