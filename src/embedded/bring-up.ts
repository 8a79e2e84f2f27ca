/** Brings up all parts of an embedded start: the servers, the schema, tenants, the worker and the API. */
import { join } from "node:path";
import type { Config } from "../config/config.ts";
import { localAddress } from "../config/local-address.ts";
import { EMPTY_INSTANCE } from "../domain/tenancy/empty-instance.ts";
import { announceApi } from "./api-address.ts";
import { banner } from "./banner.ts";
import { DEMO_FILE, ingestDemoDocuments, readDemoState, writeDemoState } from "./demo-ingest.ts";
import { assertPortsFree, freePort } from "./ports.ts";
import { programEnvironment } from "./processes/child-environment.ts";
import { PROJECT_ROOT, runProgram } from "./processes/node-process.ts";
import { restartOnEdits } from "./processes/restart-on-edit.ts";
import { watchSources } from "./processes/watch-sources.ts";
import { environmentOf, programParts, startedAfter } from "./programs.ts";
import { demoKey, issuerSecret } from "./secret-file.ts";
import { type Servers, planServers } from "./servers/choose.ts";
import { consoleLink } from "./servers/issuer-part.ts";
import type { Session } from "./session.ts";
import { messageOf } from "./start-error.ts";

/** A build that takes longer is spoken of; without changes there is none. */
const SHOWN_BUILD_MS = 1_000;
const SOURCES = join(PROJECT_ROOT, "src");

/**
 * Starts everything that no setting replaces with a server of the user.
 * @returns the text that the start ends with.
 * @throws StartError for whatever keeps it from starting
 */
export async function bringUp(session: Session, startedAt: number): Promise<string> {
  const { config, supervisor, cacheDir, stop, inherited, isDev, progress } = session;
  const { dataDir } = config;
  const port = config.api.port === 0 ? await freePort() : config.api.port;
  // A process whose metrics port is in use goes on without; here somebody can choose another port.
  const wanted = [
    ["PORT", port],
    ["METRICS_PORT", config.metrics.port],
    ["WORKER_METRICS_PORT", config.metrics.workerPort],
  ] as const;
  await assertPortsFree(wanted, config.api.host);
  progress("starting …");
  const servers = await planServers(
    config,
    { ...inherited, PORT: String(port) },
    {
      dataDir,
      cacheDir,
      onProgress: progress,
      signal: stop,
    },
  );
  // Added in this order to be stopped in reverse. What does not depend on another starts in parallel.
  const postgres = servers.postgres.part && supervisor.add(servers.postgres.part);
  const temporal = servers.temporal.part && supervisor.add(servers.temporal.part);
  const issuer = servers.issuer?.part && supervisor.add(servers.issuer.part);
  const startPrograms = async (): Promise<string | undefined> => {
    const env = await environmentOf(session, servers, { ownerUrl: (await postgres)?.url, port });
    // The embedded Postgres' logins are made at every start: the data folder may be older than they.
    const migrate = (): Promise<string> =>
      runProgram(
        ["src/cli/main.ts", "migrate", ...(postgres === undefined ? [] : ["--create-logins"])],
        env,
        stop,
      );
    await migrate();
    const demo = await provision(session, programEnvironment(env, "provision"));
    if (demo === undefined) await sayIfEmpty(session, programEnvironment(env, "provision"));
    stop.throwIfAborted();
    progress("starting the worker and the API …");
    // Watching begins before the first start, so that no edit during the start is missed.
    const edits = isDev ? watchSources(SOURCES, stop) : undefined;
    const programs = programParts(session, env, port);
    await Promise.all([
      supervisor.add(startedAfter(temporal, programs.worker, stop)),
      supervisor.add(programs.api),
    ]);
    const prepare = (): void => [programs.worker, programs.api].forEach((program) => program.prepare());
    if (edits) void restartOnEdits(edits, { supervisor, migrate, prepare, onProgress: progress, stop });
    return demo;
  };
  const [demo] = await Promise.all([
    startPrograms(),
    temporal,
    issuer,
    runProgram(["src/worker/bundle-main.ts"], inherited, stop),
    buildConsole(session),
  ]);
  const address = localAddress(config.api.host, port);
  await announceApi(dataDir, config.api.port === port ? config.api.publicUrl : address);
  if (demo !== undefined) await ingestOnce(session, address, demo);
  void buildGuide(session);
  return banner({
    address,
    console: await consoleAddress(servers, address, dataDir),
    temporalUi: servers.temporalUi,
    demoKey: demo,
    hasIssuer: issuer !== undefined,
    dataDir,
    metrics: metricsAddresses(config),
    hasChatModel: config.models.chatModel !== undefined,
    seconds: (Date.now() - startedAt) / 1_000,
  });
}

/** With the development issuer the link shows it the secret; another issuer asks in its own way. */
async function consoleAddress({ issuer }: Servers, address: string, dataDir: string): Promise<string> {
  if (issuer?.part === undefined) return `${address}/console`;
  return consoleLink(issuer.address.issuer, await issuerSecret(dataDir));
}

function metricsAddresses({ api, metrics }: Config): string[] {
  return [metrics.port, metrics.workerPort].flatMap((port) =>
    port === undefined ? [] : [`${localAddress(api.host, port)}/metrics`],
  );
}

/** Applies the user's provisioning file at every start, or the demo's once. @returns the demo's key. */
async function provision(
  { config, stop, progress }: Session,
  env: NodeJS.ProcessEnv,
): Promise<string | undefined> {
  if (config.provisionFile !== undefined) {
    const printed = await runProgram(["src/cli/main.ts", "provision", config.provisionFile], env, stop);
    if (printed !== "") progress(printed);
    return undefined;
  }
  // A demo key must not exist in an installation that serves others.
  if (config.environment === "production") return undefined;
  const key = await demoKey(config.dataDir);
  const state = await readDemoState(config.dataDir);
  if (state.isProvisioned) return key;
  progress("creating the demo organization …");
  await runProgram(["src/cli/main.ts", "provision", DEMO_FILE], { ...env, DEMO_API_KEY: key }, stop);
  await writeDemoState(config.dataDir, { ...state, isProvisioned: true });
  return key;
}

/** At once if it was built before, within seconds otherwise; without it everything else works. */
async function buildConsole({ config, inherited, stop, progress }: Session): Promise<void> {
  const startedAt = Date.now();
  const late = setTimeout(() => progress("building the console …"), SHOWN_BUILD_MS);
  try {
    await runProgram(["scripts/console/main.ts", "--data-dir", config.dataDir], inherited, stop);
    const seconds = (Date.now() - startedAt) / 1_000;
    if (Date.now() - startedAt > SHOWN_BUILD_MS) progress(`built the console in ${seconds.toFixed(1)} s`);
  } catch (error) {
    if (!stop.aborted) progress(`the console at /console could not be built: ${messageOf(error)}`);
  } finally {
    clearTimeout(late);
  }
}

/** Nobody waits for it: until it is there, /docs says that it is being built. */
async function buildGuide({ config, inherited, stop, progress }: Session): Promise<void> {
  try {
    await runProgram(
      ["scripts/guide/main.ts", "--in-background", "--data-dir", config.dataDir],
      inherited,
      stop,
    );
  } catch (error) {
    if (!stop.aborted) progress(`the guide at /docs could not be built: ${messageOf(error)}`);
  }
}

async function sayIfEmpty({ stop, progress }: Session, env: NodeJS.ProcessEnv): Promise<void> {
  const listed = await runProgram(["src/cli/main.ts", "organization", "list", "--json"], env, stop);
  if (listed === "[]") progress(EMPTY_INSTANCE);
}

async function ingestOnce({ config, stop, progress }: Session, address: string, key: string): Promise<void> {
  const state = await readDemoState(config.dataDir);
  if (state.isComplete) return;
  progress("processing the demo documents …");
  try {
    await ingestDemoDocuments({
      address,
      key,
      dataDir: config.dataDir,
      state,
      signal: stop,
      onProgress: progress,
    });
  } catch (error) {
    progress(`could not process the demo documents (${messageOf(error)}); the next start tries again`);
  }
}
