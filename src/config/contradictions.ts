/** Says which settings contradict each other. */
import type { SettingName, SettingTexts as Given } from "./settings/index.ts";

/** Settings that are valid alone and wrong together: [the variable to name, whether it is wrong, why]. */
export const CONTRADICTIONS: readonly [SettingName, (given: Given) => boolean, string][] = [
  [
    "DATABASE_SYSTEM_URL",
    (given) => given.DATABASE_SYSTEM_URL !== undefined && given.DATABASE_URL === undefined,
    "needs DATABASE_URL: the application's login",
  ],
  [
    "DATABASE_MAINTENANCE_URL",
    (given) => given.DATABASE_MAINTENANCE_URL !== undefined && given.DATABASE_SYSTEM_URL === undefined,
    "needs DATABASE_SYSTEM_URL: each part has its own login, or all have one",
  ],
  [
    "CHAT_MODEL",
    (given) => given.CHAT_MODEL !== undefined && !hasProvider(given),
    "needs a provider: set OPENAI_API_KEY, or OPENAI_BASE_URL for one that takes no key",
  ],
  [
    "CHAT_FALLBACKS",
    (given) => given.CHAT_FALLBACKS !== undefined && given.CHAT_MODEL === undefined,
    "needs CHAT_MODEL: a provider to fall back from",
  ],
  [
    "EMBEDDING_MODEL",
    (given) => given.EMBEDDING_MODEL !== undefined && !hasProvider(given),
    "needs a provider: set OPENAI_API_KEY, or OPENAI_BASE_URL for one that takes no key",
  ],
  [
    "RERANK_MODEL",
    (given) => given.RERANK_MODEL !== undefined && given.RERANK_URL === undefined,
    "needs RERANK_URL",
  ],
  [
    "RERANK_API_KEY",
    (given) => given.RERANK_API_KEY !== undefined && given.RERANK_URL === undefined,
    "needs RERANK_URL",
  ],
  [
    "EMBEDDING_DIMENSIONS",
    (given) => given.EMBEDDING_DIMENSIONS !== undefined && given.EMBEDDING_MODEL === undefined,
    "needs EMBEDDING_MODEL; the built-in model has its own dimensions",
  ],
  [
    "MASTER_KEY",
    (given) => given.MASTER_KEY !== undefined && given.KMS_KEY_NAME !== undefined,
    "cannot be set together with KMS_KEY_NAME: there is one master key",
  ],
  [
    "MASTER_KEY_PREVIOUS",
    (given) => given.MASTER_KEY_PREVIOUS !== undefined && given.KMS_KEY_NAME_PREVIOUS !== undefined,
    "cannot be set together with KMS_KEY_NAME_PREVIOUS: keys are changed one at a time",
  ],
  [
    "MASTER_KEY_PREVIOUS",
    (given) => given.MASTER_KEY_PREVIOUS !== undefined && given.MASTER_KEY === undefined,
    "needs MASTER_KEY: the one that takes its place",
  ],
  [
    "STORAGE_EMULATOR_HOST",
    (given) => given.STORAGE_EMULATOR_HOST !== undefined && given.GCS_BUCKET === undefined,
    "needs GCS_BUCKET",
  ],
  [
    "S3_BUCKET",
    (given) => given.S3_BUCKET !== undefined && given.GCS_BUCKET !== undefined,
    "cannot be set together with GCS_BUCKET: objects are kept in one place",
  ],
  [
    "S3_ENDPOINT",
    (given) => given.S3_ENDPOINT !== undefined && given.S3_BUCKET === undefined,
    "needs S3_BUCKET",
  ],
  ["S3_REGION", (given) => given.S3_REGION !== undefined && given.S3_BUCKET === undefined, "needs S3_BUCKET"],
  [
    "S3_FORCE_PATH_STYLE",
    (given) => given.S3_FORCE_PATH_STYLE !== undefined && given.S3_BUCKET === undefined,
    "needs S3_BUCKET",
  ],
  [
    "TEMPORAL_API_KEY",
    (given) => given.TEMPORAL_API_KEY !== undefined && given.TEMPORAL_ADDRESS === undefined,
    "needs TEMPORAL_ADDRESS",
  ],
  [
    "TEMPORAL_TLS_CERT_FILE",
    (given) => (given.TEMPORAL_TLS_CERT_FILE === undefined) !== (given.TEMPORAL_TLS_KEY_FILE === undefined),
    "and TEMPORAL_TLS_KEY_FILE are needed together",
  ],
  [
    "TEMPORAL_TLS",
    (given) => isOff(given.TEMPORAL_TLS) && needsTls(given),
    "cannot be off with an API key, a client certificate or a server name",
  ],
  [
    "OIDC_AUDIENCE",
    (given) => (given.OIDC_AUDIENCE === undefined) !== (given.OIDC_ISSUER === undefined),
    "and OIDC_ISSUER are needed together",
  ],
];

function hasProvider(given: Given): boolean {
  return given.OPENAI_API_KEY !== undefined || given.OPENAI_BASE_URL !== undefined;
}

function isOff(text: string | undefined): boolean {
  return text === "false" || text === "0";
}

function needsTls(given: Given): boolean {
  return [
    given.TEMPORAL_API_KEY,
    given.TEMPORAL_TLS_CERT_FILE,
    given.TEMPORAL_TLS_CA_FILE,
    given.TEMPORAL_TLS_SERVER_NAME,
  ].some((value) => value !== undefined);
}
