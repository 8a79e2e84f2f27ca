/** Groups the settings by the part of the program that they are handed to. */
import { join, resolve } from "node:path";
import { TURN_BUDGET } from "../domain/work/turn.ts";
import { localAddress } from "./local-address.ts";
import type { Settings } from "./settings/index.ts";

const OPENAI_API = "https://api.openai.com/v1";

export type Config = ReturnType<typeof groupSettings>;

export function groupSettings(env: Settings) {
  const dataDir = resolve(env.DATA_DIR);
  const cacheDir = env.HOLDFAST_CACHE === undefined ? undefined : resolve(env.HOLDFAST_CACHE);
  return {
    environment: env.NODE_ENV,
    dataDir,
    /** Where wheels of embedded parts are kept; undefined: in a cache folder of the user. */
    cacheDir,
    provisionFile: env.PROVISION_FILE,
    api: apiOf(env),
    database: databaseOf(env),
    temporal: {
      address: env.TEMPORAL_ADDRESS,
      namespace: env.TEMPORAL_NAMESPACE,
      apiKey: env.TEMPORAL_API_KEY,
      tls: temporalTls(env),
    },
    storage: storageOf(env, dataDir),
    disk: { floorBytes: env.MIN_FREE_DISK_BYTES },
    keys: keysOf(env),
    models: modelsOf(env),
    rerank: rerankOf(env),
    oidc: oidcOf(env),
    console: consoleOf(env),
    chat: chatOf(env),
    limits: limitsOf(env),
    events: { retentionDays: env.EVENT_RETENTION_DAYS },
    tools: { httpFetchHosts: env.HTTP_FETCH_HOSTS, mcpServers: env.MCP_SERVERS },
    webhooks: { allowHosts: env.WEBHOOK_ALLOW_HOSTS },
    worker: { queues: env.WORKER_QUEUES, healthPort: env.HEALTH_PORT },
    ocr: {
      languages: env.OCR_LANGUAGES.split("+"),
      dataFolder: join(cacheDir ?? dataDir, "tessdata"),
    },
    log: { level: env.LOG_LEVEL },
    metrics: metricsOf(env),
    telemetry: { otlpEndpoint: env.OTEL_EXPORTER_OTLP_ENDPOINT, sampleRatio: env.TRACE_SAMPLE_RATIO },
  };
}

function apiOf(env: Settings) {
  return {
    host: env.HOST,
    port: env.PORT,
    publicUrl: env.PUBLIC_URL?.replace(/\/+$/, "") ?? localAddress(env.HOST, env.PORT),
    drainDelayMs: env.DRAIN_DELAY_SECONDS * 1_000,
    trustedProxies: env.TRUSTED_PROXIES,
    corsOrigins: [...env.CORS_ORIGINS, ...(env.CONSOLE_ORIGIN === undefined ? [] : [env.CONSOLE_ORIGIN])],
    eventStreams: env.EVENT_STREAMS_PER_PROCESS,
  };
}

function databaseOf(env: Settings) {
  return {
    /** The application's login. */
    url: env.DATABASE_URL,
    systemUrl: env.DATABASE_SYSTEM_URL,
    maintenanceUrl: env.DATABASE_MAINTENANCE_URL,
    ownerUrl: env.DATABASE_OWNER_URL,
    poolSize: env.DATABASE_POOL_SIZE,
    requiresLogins: env.REQUIRE_DATABASE_LOGINS ?? env.NODE_ENV === "production",
  };
}

/** Undefined if the connection is not encrypted. An API key and each setting of TLS imply TLS. */
function temporalTls(env: Settings) {
  const crt = env.TEMPORAL_TLS_CERT_FILE;
  const key = env.TEMPORAL_TLS_KEY_FILE;
  const ca = env.TEMPORAL_TLS_CA_FILE;
  const serverName = env.TEMPORAL_TLS_SERVER_NAME;
  const isImplied = [env.TEMPORAL_API_KEY, crt, ca, serverName].some((value) => value !== undefined);
  if (env.TEMPORAL_TLS !== true && !isImplied) return undefined;
  return {
    ...(crt === undefined || key === undefined ? {} : { clientCertPair: { crt, key } }),
    ...(ca === undefined ? {} : { serverRootCACertificate: ca }),
    ...(serverName === undefined ? {} : { serverNameOverride: serverName }),
  };
}

/** Without a bucket, objects are kept in `directory`. */
function storageOf(env: Settings, dataDir: string) {
  const bucket = env.S3_BUCKET;
  const s3 = {
    endpoint: env.S3_ENDPOINT,
    region: env.S3_REGION,
    forcePathStyle: env.S3_FORCE_PATH_STYLE,
  };
  return {
    gcsBucket: env.GCS_BUCKET,
    emulatorHost: env.STORAGE_EMULATOR_HOST,
    s3: bucket === undefined ? undefined : { bucket, ...s3 },
    directory: join(dataDir, "objects"),
  };
}

function keysOf(env: Settings) {
  return {
    master: env.MASTER_KEY,
    previous: env.MASTER_KEY_PREVIOUS,
    kmsKeyName: env.KMS_KEY_NAME,
    previousKmsKeyName: env.KMS_KEY_NAME_PREVIOUS,
    kmsEmulatorHost: env.KMS_EMULATOR_HOST,
  };
}

function modelsOf(env: Settings) {
  return {
    baseUrl: env.OPENAI_BASE_URL ?? (env.OPENAI_API_KEY === undefined ? undefined : OPENAI_API),
    apiKey: env.OPENAI_API_KEY,
    /** Undefined: answers are extracted from the documents without a model. */
    chatModel: env.CHAT_MODEL,
    chatFallbacks: env.CHAT_FALLBACKS,
    /** Undefined: the embedded MiniLM. */
    embeddingModel: env.EMBEDDING_MODEL,
    embeddingDimensions: env.EMBEDDING_DIMENSIONS,
  };
}

function rerankOf(env: Settings) {
  if (env.RERANK_URL === undefined) return undefined;
  return { url: env.RERANK_URL, model: env.RERANK_MODEL, apiKey: env.RERANK_API_KEY };
}

function oidcOf(env: Settings) {
  if (env.OIDC_ISSUER === undefined || env.OIDC_AUDIENCE === undefined) return undefined;
  return { issuer: env.OIDC_ISSUER, audience: env.OIDC_AUDIENCE };
}

function consoleOf(env: Settings) {
  return {
    clientId: env.CONSOLE_CLIENT_ID,
    scope: env.CONSOLE_SCOPE,
    authorizationParameters: env.CONSOLE_AUTHORIZATION_PARAMETERS ?? {},
    issuerOrigins: env.CONSOLE_ISSUER_ORIGINS,
    /** Where it is served besides. */
    origin: env.CONSOLE_ORIGIN,
    temporalUi: env.TEMPORAL_UI_URL,
    metricsUrl: env.METRICS_URL,
  };
}

function chatOf(env: Settings) {
  return {
    contextTokens: env.CHAT_CONTEXT_TOKENS,
    responseRetentionHours: env.RESPONSE_RETENTION_HOURS,
    responseQuotas: {
      bytesPerUser: env.RESPONSE_BYTES_PER_USER,
      bytesPerOrganization: env.RESPONSE_BYTES_PER_ORGANIZATION,
    },
    turnBudget: { ...TURN_BUDGET, seconds: env.CHAT_TURN_SECONDS, tokens: env.CHAT_TURN_TOKENS },
    budgets: {
      monthlyTokensPerOrganization: env.MONTHLY_TOKENS_PER_ORGANIZATION,
      monthlyTokensPerUser: env.MONTHLY_TOKENS_PER_USER,
      monthlyTokensPerKey: env.MONTHLY_TOKENS_PER_KEY,
    },
  };
}

/** A user may do as much as a key unless a setting says otherwise; organizations have no limit then. */
function limitsOf(env: Settings) {
  return {
    maxUploadBytes: env.MAX_UPLOAD_BYTES,
    documentsPerOrganization: env.DOCUMENTS_PER_ORGANIZATION,
    bytesPerOrganization: env.BYTES_PER_ORGANIZATION,
    requestsPerMinute: env.RATE_LIMIT_RPM,
    chatTurnsPerMinute: env.CHAT_RATE_LIMIT_RPM,
    requestsPerUserAndMinute: env.USER_RATE_LIMIT_RPM ?? env.RATE_LIMIT_RPM,
    chatTurnsPerUserAndMinute: env.USER_CHAT_RATE_LIMIT_RPM ?? env.CHAT_RATE_LIMIT_RPM,
    requestsPerOrganizationAndMinute: env.ORGANIZATION_RATE_LIMIT_RPM,
    chatTurnsPerOrganizationAndMinute: env.ORGANIZATION_CHAT_RATE_LIMIT_RPM,
    refusalsPerMinute: env.REFUSAL_RATE_LIMIT_RPM,
    keysPerUser: env.MAX_KEYS_PER_USER,
  };
}

/** Two processes of one machine cannot serve metrics on one port: `npm start`'s worker takes the next. */
function metricsOf(env: Settings) {
  const port = env.METRICS_PORT;
  const nextPort = port === undefined ? undefined : port + 1;
  return { port, workerPort: env.WORKER_METRICS_PORT ?? nextPort };
}
