/**
 * Reads the environment into one typed object, and reports every problem at once. Lint lets no other file of
 * `src` read `process.env` (node/no-process-env), except where a line disables it and says why.
 */
import { ExpectedFailure } from "../domain/expected-failure.ts";
import { CONTRADICTIONS } from "./contradictions.ts";
import { withPasswords } from "./database-passwords.ts";
import { type Config, groupSettings } from "./groups.ts";
import { SETTING_NAMES, type SettingTexts, readSettings } from "./settings/index.ts";
import { describeUnknownSetting, findUnknownSettings } from "./unknown-settings.ts";

export type { Config };

/** Settings that cannot be used. Each problem names its variable, never a value: it may be a secret. */
export class ConfigError extends ExpectedFailure {
  readonly problems: string[];

  constructor(problems: string[]) {
    super(`The settings are not valid:\n${problems.map((problem) => `  ${problem}`).join("\n")}`);
    this.name = "ConfigError";
    this.problems = problems;
  }
}

/** A configuration that needs no embedded part: it says where Postgres and Temporal are. */
export type RealConfig = Config & {
  readonly database: { readonly url: string; readonly systemUrl: string };
  readonly temporal: { readonly address: string };
};

/** Activities of this queue do what only the maintenance login may, so they need that. */
const MAINTENANCE_QUEUE = "embed";

/**
 * Reads the settings. An empty variable counts as not set.
 * @throws ConfigError that lists every problem.
 * @example loadConfig({ PORT: "9000" }).api.port // 9000
 */
// oxlint-disable-next-line node/no-process-env -- this file is the one reader
export function loadConfig(env: NodeJS.ProcessEnv = process.env): Config {
  const { given, problems } = withPasswords(settingsIn(env));
  const read = readSettings(given);
  const found = [...problems, ...("problems" in read ? read.problems : []), ...contradictionsOf(given)];
  if ("problems" in read || found.length > 0) throw new ConfigError([...new Set(found)]);
  return groupSettings(read.settings);
}

function settingsIn(env: NodeJS.ProcessEnv): SettingTexts {
  const names = new Set(SETTING_NAMES);
  return Object.fromEntries(
    Object.entries(env).filter(([name, text]) => names.has(name) && text !== undefined && text.trim() !== ""),
  );
}

function contradictionsOf(given: SettingTexts): string[] {
  return CONTRADICTIONS.flatMap(([variable, isWrong, why]) => (isWrong(given) ? [`${variable} ${why}`] : []));
}

/**
 * Asserts that nothing would fall back to an embedded part. The result has neither the maintenance nor the
 * owner's login: the API process has no use for them.
 * @throws ConfigError that lists every part that is missing.
 */
export function requireReal(config: Config): RealConfig {
  const { database, temporal, keys } = config;
  const problems: string[] = [];
  if (database.url === undefined) problems.push("DATABASE_URL is required (npm start runs its own Postgres)");
  else if (database.systemUrl === undefined)
    problems.push("DATABASE_SYSTEM_URL is required (`holdfast migrate --create-logins` creates the logins)");
  if (temporal.address === undefined)
    problems.push("TEMPORAL_ADDRESS is required (npm start runs its own Temporal)");
  if (keys.master === undefined && keys.kmsKeyName === undefined)
    problems.push("MASTER_KEY or KMS_KEY_NAME is required (npm start creates its own key)");
  const { url, systemUrl } = database;
  if (url === undefined || systemUrl === undefined || temporal.address === undefined || problems.length > 0)
    throw new ConfigError(problems);
  return {
    ...config,
    database: { ...database, url, systemUrl, maintenanceUrl: undefined, ownerUrl: undefined },
    temporal: { ...temporal, address: temporal.address },
  };
}

/**
 * As {@link requireReal}, for the worker process: keeps the maintenance login if one of its queues needs it.
 * @throws ConfigError that lists every part that is missing.
 */
export function requireWorker(config: Config): RealConfig {
  const real = requireReal(config);
  const { maintenanceUrl } = config.database;
  if (!config.worker.queues.includes(MAINTENANCE_QUEUE)) return real;
  if (maintenanceUrl === undefined)
    throw new ConfigError([`DATABASE_MAINTENANCE_URL is required: WORKER_QUEUES has ${MAINTENANCE_QUEUE}`]);
  return { ...real, database: { ...real.database, maintenanceUrl } };
}

/** A line for each variable that looks like a setting and is none, with the likely one; never a value. */
// oxlint-disable-next-line node/no-process-env -- this file is the one reader
export function unknownSettings(env: NodeJS.ProcessEnv = process.env): string[] {
  return findUnknownSettings(env, SETTING_NAMES).map(describeUnknownSetting);
}
