/** Runs the scripted provider as a process of its own: `node test/support/scripted-provider-main.ts --port 9101 --first-token-ms 200`. */
import { parseArgs } from "node:util";
import { startScriptedProvider } from "./scripted-provider.ts";

const { values } = parseArgs({
  options: {
    port: { type: "string", default: "0" },
    dimensions: { type: "string", default: "384" },
    "first-token-ms": { type: "string", default: "0" },
    "embedding-ms": { type: "string", default: "0" },
  },
});
const provider = await startScriptedProvider({
  port: Number(values.port),
  dimensions: Number(values.dimensions),
  firstTokenMs: Number(values["first-token-ms"]),
  embeddingMs: Number(values["embedding-ms"]),
  keepRequests: 0,
});
process.stdout.write(`${provider.url}\n`);
const stop = (): void => void provider.close().then(() => process.exit(0));
process.on("SIGTERM", stop).on("SIGINT", stop);
