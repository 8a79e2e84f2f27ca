/** Starts what the chat bench compares: the scripted provider, the service, and LiteLLM. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import { createInterface } from "node:readline";
import { Client, Connection } from "@temporalio/client";
import { freePort } from "../../src/embedded/ports.ts";
import { ended, upload } from "../../test/support/clients/client.ts";
import { startStack } from "../../test/support/stack/stack.ts";
import { KEYS, SPACES } from "../../test/support/tenants/tenants.ts";
import { until } from "../../test/support/until.ts";
import type { Bench, EventLoopDelay } from "./cell.ts";
import { startLiteLlm } from "./litellm.ts";
import { ask } from "./load.ts";
import { targetsOf } from "./targets.ts";

interface BenchOptions {
  readonly pieces: string;
  readonly litellm?: string;
}

const NOTE =
  "# Revenue\n\nRevenue grew by 12 percent over the last year, to 48 million.\n\nCosts grew by 3 percent.\n";

/** The scripted provider as a process of its own, so that it shares no event loop with the load. */
export async function startProvider(
  firstTokenMs: string,
  pieces: string,
): Promise<{ url: string; stop(): void }> {
  const settings = [
    "--dimensions",
    "64",
    "--first-token-ms",
    firstTokenMs,
    "--pieces",
    pieces,
    "--tool",
    "current_time",
  ];
  const child = spawn(process.execPath, ["test/support/provider/scripted-provider-main.ts", ...settings], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [url] = (await once(createInterface(child.stdout), "line")) as [string];
  return {
    url,
    stop() {
      child.kill("SIGTERM");
    },
  };
}

/**
 * Starts a provider with this delay, the service with a document in it, and LiteLLM if its program is given.
 * Returns as soon as chat answers.
 */
export async function startBench(
  firstTokenMs: string,
  { pieces, litellm: binary }: BenchOptions,
): Promise<Bench> {
  const provider = await startProvider(firstTokenMs, pieces);
  const stack = await startStack({ env: { OPENAI_BASE_URL: provider.url, LOG_LEVEL: "warn" } });
  const metricsPort = await freePort();
  const eventLoopPort = await freePort();
  await stack.api.kill("SIGTERM");
  await stack.restartApi({
    METRICS_PORT: String(metricsPort),
    EVENT_LOOP_PORT: String(eventLoopPort),
    NODE_OPTIONS: `--import=${join(import.meta.dirname, "event-loop-delay.ts")}`,
  });
  const connection = await Connection.connect({ address: stack.temporalAddress });
  const litellm = binary === undefined ? undefined : await startLiteLlm(binary, provider.url);
  const { workflow } = new Client({ connection });
  const bench: Bench = {
    stack,
    litellm,
    providerUrl: provider.url,
    async openTurns() {
      const text = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
      return [...text.matchAll(/^holdfast_chat_turns_open\{.*\} (\d+)$/gm)].reduce(
        (sum, [, count]) => sum + Number(count),
        0,
      );
    },
    openWorkflows: async () =>
      (
        await workflow.count(
          "ExecutionStatus = 'Running' AND (WorkflowType = 'chatTurns' OR WorkflowType = 'chatTurn')",
        )
      ).count,
    eventLoop: async () =>
      (await fetch(`http://127.0.0.1:${eventLoopPort}/`)).json() as Promise<EventLoopDelay>,
    async close() {
      await litellm?.stop();
      await connection.close();
      await stack.close();
      provider.stop();
    },
  };
  await ended(
    stack.url,
    KEYS.owner,
    (await upload(stack.url, KEYS.owner, SPACES.research, NOTE, "revenue.md")).id,
  );
  await until("chat is ready", () => ask(targetsOf("plain", bench).get("holdfast")!));
  return bench;
}

/** The program in PATH; undefined if it is not installed. */
export function installedLiteLlm(): string | undefined {
  return (process.env["PATH"] ?? "")
    .split(delimiter)
    .map((folder) => join(folder, "litellm"))
    .find((path) => {
      try {
        accessSync(path, constants.X_OK);
        return true;
      } catch {
        return false;
      }
    });
}
