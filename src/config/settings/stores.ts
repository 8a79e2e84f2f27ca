/** Settings of what Holdfast keeps its state in: Postgres, Temporal, the object store, and its keys. */
import { z } from "zod";
import { PASSWORD_SETTINGS } from "../database-passwords.ts";
import { databaseUrl, flag, integer, kmsKeyName, masterKey, readableFile, url } from "../setting-forms.ts";
import { ABOUT } from "./about.ts";

const EMBEDDED = "required, except with `npm start`";
const LOGINS = "([the four logins](operations.md#database-logins))";

export const DATABASE = {
  DATABASE_URL: databaseUrl.optional().register(ABOUT, {
    what: "Postgres 16 or newer with pgvector 0.8 or newer, as the login that serves tenants",
    unset: EMBEDDED,
    isSecret: true,
  }),
  DATABASE_SYSTEM_URL: databaseUrl.optional().register(ABOUT, {
    what: `the login of bookkeeping across tenants ${LOGINS}`,
    unset: EMBEDDED,
    isSecret: true,
  }),
  DATABASE_MAINTENANCE_URL: databaseUrl.optional().register(ABOUT, {
    what:
      "the login of deletions, key rotation, the audit chain and vector indexes, for workers of the queue " +
      "`embed`",
    unset: EMBEDDED,
    readBy: ["worker", "npm start", "holdfast"],
    isSecret: true,
  }),
  DATABASE_OWNER_URL: databaseUrl.optional().register(ABOUT, {
    what: "the login of `holdfast migrate`, which makes extensions and roles",
    unset: EMBEDDED,
    readBy: ["npm start", "holdfast"],
    isSecret: true,
  }),
  ...PASSWORD_SETTINGS,
  REQUIRE_DATABASE_LOGINS: flag.optional().register(ABOUT, {
    what: "whether a login that may do too much ends the start; otherwise it is a warning",
    unset: "`true` in production",
  }),
  DATABASE_POOL_SIZE: integer(2, 1_000).default(20).register(ABOUT, {
    what: "connections of one process for tenants ([others](operations.md#connections))",
  }),
} as const;

export const TEMPORAL = {
  TEMPORAL_ADDRESS: z
    .string()
    .regex(/^[^\s/]+:\d+$/, "must be host:port")
    .optional()
    .describe("`host:port`")
    .register(ABOUT, { what: "Temporal's frontend", unset: EMBEDDED }),
  TEMPORAL_NAMESPACE: z
    .string()
    .default("default")
    .register(ABOUT, { what: "the namespace of the workflows" }),
  TEMPORAL_API_KEY: z.string().optional().register(ABOUT, {
    what: "a key of Temporal Cloud; it implies TLS",
    isSecret: true,
  }),
  TEMPORAL_TLS: flag.optional().register(ABOUT, {
    what: "whether the cluster speaks TLS",
    unset: "`true` if a key or another TLS setting is set",
  }),
  TEMPORAL_TLS_CERT_FILE: readableFile.optional().register(ABOUT, {
    what: "the client's certificate as PEM, for namespaces that ask for mTLS",
  }),
  TEMPORAL_TLS_KEY_FILE: readableFile.optional().register(ABOUT, { what: "the client's key as PEM" }),
  TEMPORAL_TLS_CA_FILE: readableFile.optional().register(ABOUT, {
    what: "the server's certificate authority as PEM, if it is your own",
    unset: "public authorities",
  }),
  TEMPORAL_TLS_SERVER_NAME: z.string().optional().register(ABOUT, {
    what: "the name in the server's certificate",
    unset: "the host of `TEMPORAL_ADDRESS`",
  }),
} as const;

export const OBJECTS = {
  GCS_BUCKET: z.string().optional().register(ABOUT, {
    what: "a bucket of Google Cloud Storage for objects",
    unset: "`DATA_DIR/objects`, unless `S3_BUCKET` is set",
  }),
  STORAGE_EMULATOR_HOST: z
    .string()
    .optional()
    .register(ABOUT, { what: "the address of a storage emulator, for tests" }),
  S3_BUCKET: z
    .string()
    .optional()
    .register(ABOUT, {
      what:
        "a bucket of S3, or of what speaks it: MinIO, Ceph, R2 ([storage.md](storage.md), which has the " +
        "credentials)",
      unset: "`DATA_DIR/objects`, unless `GCS_BUCKET` is set",
    }),
  S3_ENDPOINT: url("https", "http")
    .optional()
    .register(ABOUT, { what: "the store's address", unset: "AWS's" }),
  S3_REGION: z.string().optional().register(ABOUT, {
    what: "the region of the bucket",
    unset: "what AWS's clients find; `us-east-1` with an endpoint",
  }),
  S3_FORCE_PATH_STYLE: flag.default(false).register(ABOUT, {
    what: "whether the bucket is in the path, as MinIO and Ceph mostly want it",
  }),
  MIN_FREE_DISK_BYTES: integer(0, Number.MAX_SAFE_INTEGER)
    .default(3_221_225_472)
    .register(ABOUT, {
      what:
        "free bytes of the file systems of `DATA_DIR` and its objects, at most a tenth of each, below which " +
        "uploads are refused ([more](operations.md#a-full-disk)). 0 turns this off",
    }),
} as const;

export const KEYS = {
  MASTER_KEY: masterKey.optional().register(ABOUT, {
    what: "the key that wraps every other key",
    unset: "`npm start` makes one; this or `KMS_KEY_NAME` is required elsewhere",
    isSecret: true,
  }),
  MASTER_KEY_PREVIOUS: masterKey.optional().register(ABOUT, {
    what: "the master key before this one, while [keys rotate](operations.md#rotating-keys)",
    isSecret: true,
  }),
  KMS_KEY_NAME: kmsKeyName.optional().register(ABOUT, {
    what: "instead of `MASTER_KEY`: a symmetric key of Google Cloud KMS",
  }),
  KMS_KEY_NAME_PREVIOUS: kmsKeyName.optional().register(ABOUT, {
    what: "the KMS key before this one, while keys rotate",
  }),
  KMS_EMULATOR_HOST: url("http")
    .optional()
    .register(ABOUT, { what: "the address of a KMS emulator, for tests" }),
} as const;
