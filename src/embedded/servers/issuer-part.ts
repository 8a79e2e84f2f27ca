/** Starts the process of the development issuer and waits until it answers. */
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Running, launch } from "../processes/launch.ts";
import { PROJECT_ROOT } from "../processes/node-process.ts";
import { StartError } from "../start-error.ts";

/** The `aud` claim of its tokens. */
export const DEVELOPMENT_AUDIENCE = "holdfast";
export const CONSOLE_CLIENT = "holdfast-console";
/** The client with which programs that speak the Model Context Protocol sign people in. */
export const MCP_CLIENT = "holdfast-mcp";
const READY_MS = 30_000;
const POLL_MS = 50;
const ASK_TIMEOUT_MS = 2_000;
const STOP_GRACE_MS = 5_000;

interface IssuerOptions {
  readonly env: NodeJS.ProcessEnv;
  readonly dataDir: string;
  /** Stays the same for later starts, because the tokens' `iss` contains it. */
  readonly port: number;
}

/** Where the issuer takes its secret, and leads on to the console. */
export const CONSOLE_LINK_PATH = "/console";

/** The link that is printed: it shows the issuer the secret, so that the browser is not asked for it. */
export function consoleLink(issuer: string, secret: string): string {
  return `${issuer}${CONSOLE_LINK_PATH}?secret=${secret}`;
}

/** The `iss` claim of the tokens. */
export function issuerUrl(port: number): string {
  return `http://127.0.0.1:${port}`;
}

/** Starts it and returns when it answers. @throws StartError with its last lines if it does not start */
export async function startIssuer(
  { env, dataDir, port }: IssuerOptions,
  onLaunch: (running: Running) => void,
): Promise<Running> {
  const logPath = join(dataDir, "logs", "issuer.log");
  const running = await launch({
    name: "issuer",
    command: process.execPath,
    args: [join(PROJECT_ROOT, "src/issuer/main.ts"), String(port)],
    logPath,
    env: { ...env, DATA_DIR: dataDir },
    cwd: PROJECT_ROOT,
    stopSignal: "SIGTERM",
    stopGraceMs: STOP_GRACE_MS,
  });
  onLaunch(running);
  const deadline = Date.now() + READY_MS;
  while (!running.hasExited() && Date.now() < deadline) {
    const isUp = await fetch(`${issuerUrl(port)}/.well-known/openid-configuration`, {
      signal: AbortSignal.timeout(ASK_TIMEOUT_MS),
    }).then(
      (response) => response.ok,
      () => false,
    );
    if (isUp) return running;
    await sleep(POLL_MS);
  }
  const tail = await running.logTail();
  await running.stop();
  throw new StartError(
    `The development issuer did not start (${await running.exited}). Its last lines:\n${tail}\n` +
      `The whole log: ${logPath}`,
  );
}
