/**
 * Settings of what Holdfast keeps its state in: Postgres, Temporal, the object store, and the keys that
 * encrypt it.
 */
import { z } from "zod";
import { PASSWORD_SETTINGS } from "../database-passwords.ts";
import { databaseUrl, flag, integer, kmsKeyName, masterKey, readableFile, url } from "../setting-forms.ts";

export const DATABASE = {
  DATABASE_URL: databaseUrl.optional(),
  DATABASE_SYSTEM_URL: databaseUrl.optional(),
  DATABASE_MAINTENANCE_URL: databaseUrl.optional(),
  DATABASE_OWNER_URL: databaseUrl.optional(),
  ...PASSWORD_SETTINGS,
  REQUIRE_DATABASE_LOGINS: flag.optional(),
  DATABASE_POOL_SIZE: integer(2, 1_000).default(20),
} as const;

export const TEMPORAL = {
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
} as const;

export const OBJECTS = {
  GCS_BUCKET: z.string().optional(),
  STORAGE_EMULATOR_HOST: z.string().optional(),
  S3_BUCKET: z.string().optional(),
  S3_ENDPOINT: url("https", "http").optional(),
  S3_REGION: z.string().optional(),
  S3_FORCE_PATH_STYLE: flag.default(false),
  MIN_FREE_DISK_BYTES: integer(0, Number.MAX_SAFE_INTEGER).default(3_221_225_472),
} as const;

export const KEYS = {
  MASTER_KEY: masterKey.optional(),
  MASTER_KEY_PREVIOUS: masterKey.optional(),
  KMS_KEY_NAME: kmsKeyName.optional(),
  KMS_KEY_NAME_PREVIOUS: kmsKeyName.optional(),
  KMS_EMULATOR_HOST: url("http").optional(),
} as const;
