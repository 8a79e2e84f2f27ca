/** The API process: serves the routes until it is told to stop, then drains. */
import { DefaultLogger, Runtime } from "@temporalio/worker";
import { loadConfig, requireReal } from "../config.ts";
import { openApiDeps } from "../deps.ts";
import { createApp } from "./app.ts";
import { ROUTES } from "./routes/index.ts";
import { listen } from "./server.ts";

async function main(): Promise<void> {
  const config = requireReal(loadConfig());
  const stop = new Promise<string>((resolve) => {
    for (const signal of ["SIGTERM", "SIGINT"] as const) process.once(signal, () => resolve(signal));
  });
  Runtime.install({ logger: new DefaultLogger("ERROR"), shutdownSignals: [] });
  const deps = await openApiDeps(config);
  const server = await listen(createApp(deps, ROUTES), config.api);
  deps.log.info({ host: config.api.host, port: server.port }, "api is up");
  deps.log.info({ signal: await stop }, "api stops");
  await server.close();
  await deps.close();
}

await main();
