/** The LiteLLM proxy for benches, as its documentation starts it: one worker, no database. */
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "../../src/embedded/ports.ts";
import { until } from "../../test/support/until.ts";

const START_MS = 90_000;

export interface LiteLlm {
  readonly url: string;
  /** Its master key, without which it does not start. */
  readonly key: string;
  stop(): Promise<void>;
}

/**
 * `binary` is the `litellm` of `pip install 'litellm[proxy]'`. Its model `bench` is the provider at
 * `providerUrl`.
 */
export async function startLiteLlm(binary: string, providerUrl: string): Promise<LiteLlm> {
  const folder = await mkdtemp(join(tmpdir(), "holdfast-litellm-"));
  const config = join(folder, "config.json");
  const model = {
    model_name: "bench",
    litellm_params: { model: "openai/scripted-chat", api_base: providerUrl, api_key: "sk-scripted" },
  };
  // YAML is a superset of JSON.
  await writeFile(config, JSON.stringify({ model_list: [model] }));
  const port = await freePort();
  const key = `sk-${randomBytes(24).toString("hex")}`;
  const child = spawn(
    binary,
    ["--config", config, "--host", "127.0.0.1", "--port", String(port), "--num_workers", "1"],
    {
      env: {
        PATH: process.env["PATH"] ?? "",
        HOME: folder,
        LITELLM_LOCAL_MODEL_COST_MAP: "True",
        LITELLM_LOG: "ERROR",
        LITELLM_MASTER_KEY: key,
      },
      stdio: "ignore",
    },
  );
  const url = `http://127.0.0.1:${port}`;
  const stop = async (): Promise<void> => {
    const gone = new Promise((resolve) => child.once("exit", resolve));
    child.kill("SIGKILL");
    await gone;
    await rm(folder, { recursive: true, force: true });
  };
  await until(
    "the LiteLLM proxy answers",
    async () => {
      const response = await fetch(`${url}/health/liveliness`).catch(() => undefined);
      return response?.ok === true;
    },
    START_MS,
  ).catch(async (error: unknown) => {
    await stop();
    throw error;
  });
  return { url, key, stop };
}
