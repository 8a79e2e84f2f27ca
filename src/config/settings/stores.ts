/** Settings of what Holdfast keeps its state in: Postgres, Temporal, the object store, and its keys. */
import { z } from "zod";
import { PASSWORD_SETTINGS } from "../database-passwords.ts";
import { databaseUrl, flag, integer, kmsKeyName, masterKey, readableFile, url } from "../setting-forms.ts";
import { ABOUT } from "./about.ts";

const EMBEDDED = "`npm start` runs one; required elsewhere";
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
      "the login of deletions, key rotation, the audit chain and vector indexes: workers of the queue " +
      "`embed` need it",
    unset: "`npm start` makes it; required elsewhere",
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
    what: "`true` refuses to start if a login may do more than its part needs; `false` warns",
    unset: "`true` in production",
  }),
  DATABASE_POOL_SIZE: integer(2, 1_000).default(20).register(ABOUT, {
    what: "connections of one process that serve tenants; at most 4 more do bookkeeping, and 4 maintenance",
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
    unset: "`true` if another setting of TLS or a key is set",
  }),
  TEMPORAL_TLS_CERT_FILE: readableFile.optional().register(ABOUT, {
    what: "the client's certificate as PEM, for namespaces that ask for mTLS",
  }),
  TEMPORAL_TLS_KEY_FILE: readableFile.optional().register(ABOUT, { what: "the client's key as PEM" }),
  TEMPORAL_TLS_CA_FILE: readableFile.optional().register(ABOUT, {
    what: "the authority of the server's certificate as PEM, if it is one of your own",
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
        "a bucket of S3, or of what speaks it: MinIO, Ceph, R2 ([storage.md](storage.md)). Credentials are " +
        "found as AWS's clients find them: `AWS_ACCESS_KEY_ID` and `AWS_SECRET_ACCESS_KEY`, or a role",
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
    what: "`true` has the bucket in the path instead of the host's name, as MinIO and Ceph mostly want it",
  }),
  MIN_FREE_DISK_BYTES: integer(0, Number.MAX_SAFE_INTEGER)
    .default(3_221_225_472)
    .register(ABOUT, {
      what:
        "free bytes that the file systems of `DATA_DIR` and of its objects must have, at most a tenth of " +
        "each: below them uploads are answered 507 and documents wait, the rest goes on. 0 turns this off",
    }),
} as const;

export const KEYS = {
  MASTER_KEY: masterKey.optional().register(ABOUT, {
    what: "the key that wraps every other key; without it what is stored cannot be read",
    unset: "`npm start` makes one in `DATA_DIR`; this or `KMS_KEY_NAME` is required elsewhere",
    isSecret: true,
  }),
  MASTER_KEY_PREVIOUS: masterKey.optional().register(ABOUT, {
    what: "the master key before this one, until `holdfast keys rotate-master` has wrapped everything again",
    isSecret: true,
  }),
  KMS_KEY_NAME: kmsKeyName.optional().register(ABOUT, {
    what: "instead of `MASTER_KEY`: a symmetric key of Google Cloud KMS, which never leaves it",
  }),
  KMS_KEY_NAME_PREVIOUS: kmsKeyName.optional().register(ABOUT, {
    what: "the KMS key before this one, until everything is wrapped again",
  }),
  KMS_EMULATOR_HOST: url("http")
    .optional()
    .register(ABOUT, { what: "the address of a KMS emulator, for tests" }),
} as const;
