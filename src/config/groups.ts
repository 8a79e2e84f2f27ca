/** Groups of settings that are more than one variable each: limits, where objects are kept, and how Temporal is reached. */
import { join } from "node:path";
import type { Settings } from "./config.ts";

/** What callers may send, store and ask; a user has as much as a key where nothing else is said, an organization no bound of its own. */
export function limitsOf(env: Settings) {
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

/** Without a bucket objects are kept in `directory`. */
export function storageOf(env: Settings, dataDir: string) {
  const {
    S3_BUCKET: bucket,
    S3_ENDPOINT: endpoint,
    S3_REGION: region,
    S3_FORCE_PATH_STYLE: forcePathStyle,
  } = env;
  return {
    gcsBucket: env.GCS_BUCKET,
    emulatorHost: env.STORAGE_EMULATOR_HOST,
    s3: bucket === undefined ? undefined : { bucket, endpoint, region, forcePathStyle },
    directory: join(dataDir, "objects"),
  };
}

/** Undefined: the connection is not encrypted. An API key and every setting of TLS ask for it. */
export function temporalTls(env: Settings) {
  const {
    TEMPORAL_TLS: wanted,
    TEMPORAL_API_KEY: apiKey,
    TEMPORAL_TLS_CERT_FILE: crt,
    TEMPORAL_TLS_KEY_FILE: key,
    TEMPORAL_TLS_CA_FILE: ca,
    TEMPORAL_TLS_SERVER_NAME: name,
  } = env;
  const isWanted =
    wanted === "true" || wanted === "1" || [apiKey, crt, ca, name].some((value) => value !== undefined);
  if (!isWanted) return undefined;
  return {
    ...(crt === undefined || key === undefined ? {} : { clientCertPair: { crt, key } }),
    ...(ca === undefined ? {} : { serverRootCACertificate: ca }),
    ...(name === undefined ? {} : { serverNameOverride: name }),
  };
}

/** Where processes of one machine serve metrics: each on a port of its own. */
export function metricsOf(env: Settings) {
  const { METRICS_PORT: port, WORKER_METRICS_PORT: worker } = env;
  return { port, workerPort: worker ?? (port === undefined ? undefined : port + 1) };
}
