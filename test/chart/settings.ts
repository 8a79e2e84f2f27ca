/** Which settings the chart takes in `env`: its schema lists their names, so that a misspelt one is refused. */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { SETTING_NAMES } from "../../src/config/settings/index.ts";

const SCHEMA = join(import.meta.dirname, "../../charts/holdfast/values.schema.json");

/** Settings that do not go into `env`, each with where they come from. */
export const NOT_IN_ENV: Record<string, string> = {
  ...Object.fromEntries(
    SETTING_NAMES.filter((name) => /^DATABASE_.*(URL|PASSWORD|PASSWORD_FILE)$/.test(name)).map((name) => [
      name,
      "a Secret: database.existingSecret, or extraEnv",
    ]),
  ),
  REQUIRE_DATABASE_LOGINS: "database.requireLogins",
  MASTER_KEY: "a Secret: existingSecret",
  MASTER_KEY_PREVIOUS: "a Secret: existingSecret",
  OPENAI_API_KEY: "a Secret: existingSecret",
  RERANK_API_KEY: "a Secret: existingSecret",
  TEMPORAL_API_KEY: "a Secret: existingSecret",
  NODE_ENV: "the image",
  PORT: "the image",
  HOST: "the image",
  DATA_DIR: "the image",
  HEALTH_PORT: "the chart: its probes ask it",
  METRICS_PORT: "metrics.port",
  DRAIN_DELAY_SECONDS: "api.drainDelaySeconds",
  WORKER_QUEUES: "worker.groups",
  PROVISION_FILE: "provision.existingSecret",
  HOLDFAST_CACHE: "npm start alone",
  KMS_EMULATOR_HOST: "tests",
  STORAGE_EMULATOR_HOST: "tests",
};

/** The schema's part for `env`, as the settings have it now. */
export function environmentProperties(): Record<string, { type: string[] }> {
  const names = SETTING_NAMES.filter((name) => !(name in NOT_IN_ENV)).toSorted();
  return Object.fromEntries(names.map((name) => [name, { type: ["string", "number", "boolean", "null"] }]));
}

export async function readEnvironmentProperties(): Promise<unknown> {
  const schema = JSON.parse(await readFile(SCHEMA, "utf8")) as {
    properties: { env: { properties: unknown } };
  };
  return schema.properties.env.properties;
}

export async function writeEnvironmentProperties(): Promise<void> {
  const schema = JSON.parse(await readFile(SCHEMA, "utf8")) as {
    properties: { env: { properties: unknown } };
  };
  schema.properties.env.properties = environmentProperties();
  await writeFile(SCHEMA, `${JSON.stringify(schema, null, 2)}\n`);
}
