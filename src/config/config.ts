/** The only reader of the environment: one schema, one typed object, every problem reported at once. */
import { join, resolve } from "node:path";
import { z } from "zod";
import { CONTRADICTIONS } from "./contradictions.ts";
import { limitsOf, metricsOf, storageOf, temporalTls } from "./groups.ts";
import { PASSWORD_SETTINGS, withPasswords } from "./database-passwords.ts";
import { ExpectedFailure } from "../domain/expected-failure.ts";
import { TURN_BUDGET, TURN_SECONDS_MAX } from "../domain/work/turn.ts";
import {
  databaseUrl,
  QUEUE_NAMES,
  chatFallbacks,
  hostPatterns,
  flag,
  integer,
  issuer,
  kmsKeyName,
  masterKey,
  mcpServers,
  originList,
  queueList,
  ratio,
  readableFile,
  url,
} from "./setting-forms.ts";
import { describeUnknownSetting, findUnknownSettings } from "./unknown-settings.ts";

/** pgvector indexes half-precision vectors of at most this many dimensions. */
const MAX_EMBEDDING_DIMENSIONS = 4_000;
const OPENAI_API = "https://api.openai.com/v1";

const Environment = z.object({
  NODE_ENV: z
    .enum(["production", "development", "test"], "must be production, development or test")
    .default("development"),
  PORT: integer(0, 65_535).default(8080),
  HOST: z.string().default("127.0.0.1"),
  DRAIN_DELAY_SECONDS: integer(0, 10).default(0),
  PUBLIC_URL: url("https", "http").optional(),
  DATA_DIR: z.string().default(".data"),
  DATABASE_URL: databaseUrl.optional(),
  DATABASE_SYSTEM_URL: databaseUrl.optional(),
  DATABASE_MAINTENANCE_URL: databaseUrl.optional(),
  DATABASE_OWNER_URL: databaseUrl.optional(),
  ...PASSWORD_SETTINGS,
  REQUIRE_DATABASE_LOGINS: flag.optional(),
  DATABASE_POOL_SIZE: integer(2, 1_000).default(20),
  TEMPORAL_ADDRESS: z
    .string()
    .regex(/^[^\s/]+:\d+$/, "must be host:port")
    .optional(),
  TEMPORAL_NAMESPACE: z.string().default("default"),
  TEMPORAL_API_KEY: z.string().optional(),
  TEMPORAL_TLS: z.enum(["true", "false", "1", "0"], "must be true or false").optional(),
  TEMPORAL_TLS_CERT_FILE: readableFile.optional(),
  TEMPORAL_TLS_KEY_FILE: readableFile.optional(),
  TEMPORAL_TLS_CA_FILE: readableFile.optional(),
  TEMPORAL_TLS_SERVER_NAME: z.string().optional(),
  GCS_BUCKET: z.string().optional(),
  STORAGE_EMULATOR_HOST: z.string().optional(),
  S3_BUCKET: z.string().optional(),
  S3_ENDPOINT: url("https", "http").optional(),
  S3_REGION: z.string().optional(),
  S3_FORCE_PATH_STYLE: flag.default(false),
  MASTER_KEY: masterKey.optional(),
  MASTER_KEY_PREVIOUS: masterKey.optional(),
  KMS_KEY_NAME: kmsKeyName.optional(),
  KMS_KEY_NAME_PREVIOUS: kmsKeyName.optional(),
  KMS_EMULATOR_HOST: url("http").optional(),
  OPENAI_BASE_URL: url("https", "http").optional(),
  OPENAI_API_KEY: z.string().optional(),
  CHAT_MODEL: z.string().optional(),
  EMBEDDING_MODEL: z.string().optional(),
  EMBEDDING_DIMENSIONS: integer(1, MAX_EMBEDDING_DIMENSIONS).optional(),
  RERANK_URL: url("https", "http").optional(),
  RERANK_MODEL: z.string().optional(),
  RERANK_API_KEY: z.string().optional(),
  OIDC_ISSUER: issuer.optional(),
  OIDC_AUDIENCE: z.string().optional(),
  PROVISION_FILE: z.string().optional(),
  OCR_LANGUAGES: z
    .string()
    .regex(/^[a-z_]{3,20}(?:\+[a-z_]{3,20})*$/i, "must be tesseract's codes, joined by +")
    .default("eng"),
  MIN_FREE_DISK_BYTES: integer(0, Number.MAX_SAFE_INTEGER).default(3_221_225_472),
  MAX_UPLOAD_BYTES: integer(1, Number.MAX_SAFE_INTEGER).default(104_857_600),
  RATE_LIMIT_RPM: integer(1, 1_000_000).default(600),
  CHAT_RATE_LIMIT_RPM: integer(1, 1_000_000).default(60),
  USER_RATE_LIMIT_RPM: integer(1, 1_000_000).optional(),
  USER_CHAT_RATE_LIMIT_RPM: integer(1, 1_000_000).optional(),
  ORGANIZATION_RATE_LIMIT_RPM: integer(1, 1_000_000).optional(),
  ORGANIZATION_CHAT_RATE_LIMIT_RPM: integer(1, 1_000_000).optional(),
  REFUSAL_RATE_LIMIT_RPM: integer(1, 1_000_000).default(1_200),
  MAX_KEYS_PER_USER: integer(1, 1_000_000).default(50),
  TRUSTED_PROXIES: integer(0, 10).default(0),
  CORS_ORIGINS: originList.default([]),
  WORKER_QUEUES: queueList.default(QUEUE_NAMES),
  LOG_LEVEL: z
    .enum(
      ["trace", "debug", "info", "warn", "error", "fatal", "silent"],
      "must be trace, debug, info, warn, error, fatal or silent",
    )
    .default("info"),
  HEALTH_PORT: integer(1, 65_535).optional(),
  METRICS_PORT: integer(1, 65_535).optional(),
  WORKER_METRICS_PORT: integer(1, 65_535).optional(),
  OTEL_EXPORTER_OTLP_ENDPOINT: url("https", "http").optional(),
  TRACE_SAMPLE_RATIO: ratio.default(1),
  HTTP_FETCH_HOSTS: hostPatterns.default([]),
  MCP_SERVERS: mcpServers.default({}),
  CHAT_FALLBACKS: chatFallbacks.default([]),
  CHAT_CONTEXT_TOKENS: integer(1_000, 100_000_000).default(128_000),
  CHAT_TURN_SECONDS: integer(1, TURN_SECONDS_MAX).default(TURN_BUDGET.seconds),
  CHAT_TURN_TOKENS: integer(1, Number.MAX_SAFE_INTEGER).default(TURN_BUDGET.tokens),
  MONTHLY_TOKENS_PER_ORGANIZATION: integer(1, Number.MAX_SAFE_INTEGER).optional(),
  MONTHLY_TOKENS_PER_USER: integer(1, Number.MAX_SAFE_INTEGER).optional(),
  MONTHLY_TOKENS_PER_KEY: integer(1, Number.MAX_SAFE_INTEGER).optional(),
  DOCUMENTS_PER_ORGANIZATION: integer(1, Number.MAX_SAFE_INTEGER).optional(),
  BYTES_PER_ORGANIZATION: integer(1, Number.MAX_SAFE_INTEGER).optional(),
  HOLDFAST_CACHE: z.string().optional(),
});

export type Settings = z.infer<typeof Environment>;
/** Every variable that is a setting. */
export const SETTING_NAMES: readonly string[] = Object.keys(Environment.shape);
type Variable = keyof Settings;
type Given = Partial<Record<Variable, string>>;

/** Settings that cannot be used, each with its variable's name. Values are never repeated: they may be secrets. */
export class ConfigError extends ExpectedFailure {
  readonly problems: string[];

  constructor(problems: string[]) {
    super(`The settings cannot be used:\n${problems.map((problem) => `  ${problem}`).join("\n")}`);
    this.name = "ConfigError";
    this.problems = problems;
  }
}

export type Config = ReturnType<typeof group>;

/** A configuration in which nothing falls back to an embedded part. */
export type RealConfig = Config & {
  readonly database: { readonly url: string };
  readonly temporal: { readonly address: string };
};

/** Its activities read and write what no organization's own transaction may: they need the maintenance login. */
const MAINTENANCE_QUEUE = "embed";

/**
 * Reads the settings; a variable that is set to nothing counts as not set.
 * @throws ConfigError that lists every problem.
 */
// oxlint-disable-next-line node/no-process-env -- this file is the one reader
export function loadConfig(env: NodeJS.ProcessEnv = process.env): Config {
  const set = Object.fromEntries(
    Object.entries(env).filter(
      ([name, value]) => name in Environment.shape && value !== undefined && value.trim() !== "",
    ),
  ) as Given;
  const { given, problems: wrongPasswords } = withPasswords(set);
  const parsed = Environment.safeParse(given);
  const problems = [
    ...wrongPasswords,
    ...(parsed.success
      ? []
      : parsed.error.issues.map((issue) => `${issue.path[0]?.toString()} ${issue.message}`)),
  ];
  for (const [variable, isWrong, why] of CONTRADICTIONS)
    if (isWrong(given)) problems.push(`${variable} ${why}`);
  if (!parsed.success || problems.length > 0) throw new ConfigError([...new Set(problems)]);
  return group(parsed.data);
}

/**
 * For the API process, and every other that never starts an embedded part: it keeps neither the login of maintenance nor the owner's.
 * @throws ConfigError that lists every part that is missing.
 */
export function requireReal(config: Config): RealConfig {
  const { database, temporal, keys } = config;
  const problems: string[] = [];
  if (database.url === undefined)
    problems.push("DATABASE_URL is required (npm start brings a Postgres of its own)");
  if (temporal.address === undefined)
    problems.push("TEMPORAL_ADDRESS is required (npm start brings a Temporal of its own)");
  if (keys.master === undefined && keys.kmsKeyName === undefined)
    problems.push("MASTER_KEY or KMS_KEY_NAME is required (npm start makes a key of its own)");
  if (database.url === undefined || temporal.address === undefined || problems.length > 0)
    throw new ConfigError(problems);
  return {
    ...config,
    database: { ...database, url: database.url, maintenanceUrl: undefined, ownerUrl: undefined },
    temporal: { ...temporal, address: temporal.address },
  };
}

/**
 * For the worker process: as {@link requireReal}, with the login of maintenance where its queues need it.
 * @throws ConfigError that lists every part that is missing.
 */
export function requireWorker(config: Config): RealConfig {
  const real = requireReal(config);
  const { systemUrl, maintenanceUrl } = config.database;
  if (!config.worker.queues.includes(MAINTENANCE_QUEUE)) return real;
  if (systemUrl !== undefined && maintenanceUrl === undefined)
    throw new ConfigError([`DATABASE_MAINTENANCE_URL is required: WORKER_QUEUES has ${MAINTENANCE_QUEUE}`]);
  return { ...real, database: { ...real.database, maintenanceUrl } };
}

function group(env: Settings) {
  const dataDir = resolve(env.DATA_DIR);
  return {
    environment: env.NODE_ENV,
    dataDir,
    /** Where wheels of embedded parts are kept; without it a folder of the user. */
    cacheDir: env.HOLDFAST_CACHE === undefined ? undefined : resolve(env.HOLDFAST_CACHE),
    provisionFile: env.PROVISION_FILE,
    api: {
      host: env.HOST,
      port: env.PORT,
      publicUrl: env.PUBLIC_URL?.replace(/\/+$/, "") ?? localAddress(env.HOST, env.PORT),
      drainDelayMs: env.DRAIN_DELAY_SECONDS * 1_000,
      trustedProxies: env.TRUSTED_PROXIES,
      corsOrigins: env.CORS_ORIGINS,
    },
    database: {
      /** The application's login; without `systemUrl` one for everything, as releases before 0.4 had it. */
      url: env.DATABASE_URL,
      systemUrl: env.DATABASE_SYSTEM_URL,
      maintenanceUrl: env.DATABASE_MAINTENANCE_URL,
      ownerUrl: env.DATABASE_OWNER_URL,
      poolSize: env.DATABASE_POOL_SIZE,
      requiresLogins: env.REQUIRE_DATABASE_LOGINS ?? env.NODE_ENV === "production",
    },
    temporal: {
      address: env.TEMPORAL_ADDRESS,
      namespace: env.TEMPORAL_NAMESPACE,
      apiKey: env.TEMPORAL_API_KEY,
      tls: temporalTls(env),
    },
    storage: storageOf(env, dataDir),
    disk: { floorBytes: env.MIN_FREE_DISK_BYTES },
    keys: {
      master: env.MASTER_KEY,
      previous: env.MASTER_KEY_PREVIOUS,
      kmsKeyName: env.KMS_KEY_NAME,
      previousKmsKeyName: env.KMS_KEY_NAME_PREVIOUS,
      kmsEmulatorHost: env.KMS_EMULATOR_HOST,
    },
    models: {
      baseUrl: env.OPENAI_BASE_URL ?? (env.OPENAI_API_KEY === undefined ? undefined : OPENAI_API),
      apiKey: env.OPENAI_API_KEY,
      /** Undefined: the built-in extractive answers. */
      chatModel: env.CHAT_MODEL,
      chatFallbacks: env.CHAT_FALLBACKS,
      /** Undefined: the built-in MiniLM. */
      embeddingModel: env.EMBEDDING_MODEL,
      embeddingDimensions: env.EMBEDDING_DIMENSIONS,
    },
    rerank:
      env.RERANK_URL === undefined
        ? undefined
        : { url: env.RERANK_URL, model: env.RERANK_MODEL, apiKey: env.RERANK_API_KEY },
    oidc:
      env.OIDC_ISSUER === undefined || env.OIDC_AUDIENCE === undefined
        ? undefined
        : { issuer: env.OIDC_ISSUER, audience: env.OIDC_AUDIENCE },
    chat: {
      contextTokens: env.CHAT_CONTEXT_TOKENS,
      turnBudget: { ...TURN_BUDGET, seconds: env.CHAT_TURN_SECONDS, tokens: env.CHAT_TURN_TOKENS },
      budgets: {
        monthlyTokensPerOrganization: env.MONTHLY_TOKENS_PER_ORGANIZATION,
        monthlyTokensPerUser: env.MONTHLY_TOKENS_PER_USER,
        monthlyTokensPerKey: env.MONTHLY_TOKENS_PER_KEY,
      },
    },
    limits: limitsOf(env),
    tools: { httpFetchHosts: env.HTTP_FETCH_HOSTS, mcpServers: env.MCP_SERVERS },
    worker: { queues: env.WORKER_QUEUES, healthPort: env.HEALTH_PORT },
    ocr: {
      languages: env.OCR_LANGUAGES.split("+"),
      dataFolder: join(env.HOLDFAST_CACHE === undefined ? dataDir : resolve(env.HOLDFAST_CACHE), "tessdata"),
    },
    log: { level: env.LOG_LEVEL },
    metrics: metricsOf(env),
    telemetry: { otlpEndpoint: env.OTEL_EXPORTER_OTLP_ENDPOINT, sampleRatio: env.TRACE_SAMPLE_RATIO },
  };
}

/** A line for each variable that looks like a setting and is none, with the one that was meant, perhaps; no values. For a start to warn of. */
// oxlint-disable-next-line node/no-process-env -- this file is the one reader
export function unknownSettings(env: NodeJS.ProcessEnv = process.env): string[] {
  return findUnknownSettings(env, SETTING_NAMES).map(describeUnknownSetting);
}

/** The address under which this machine reaches a server that listens on `host`. */
export function localAddress(host: string, port: number): string {
  const name = host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host.includes(":") ? `[${host}]` : host;
  return `http://${name}:${port}`;
}
