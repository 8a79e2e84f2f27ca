/** The settings that an embedded start gives to its API, worker and command-line processes. */
import type { Config } from "../../config/config.ts";
import { withoutLogin } from "../../config/database-passwords.ts";

/** A URL that is undefined stays as the user has set it. */
interface DatabaseParts {
  readonly url: string;
  readonly systemUrl?: string | undefined;
  readonly maintenanceUrl?: string | undefined;
  readonly ownerUrl?: string | undefined;
}

/**
 * What no program can change after its start. glibc's malloc by itself raises these bounds from 128 KB to
 * what a program frees at once, up to 32 MB, and keeps what the embedding model used to load, and what
 * buffers of pages and files lay in; V8 lets the space of young objects grow to some 130 MB on a machine with
 * much memory, and keeps it.
 */
export const MEMORY_SETTINGS = {
  MALLOC_MMAP_THRESHOLD_: "131072",
  MALLOC_TRIM_THRESHOLD_: "131072",
  NODE_OPTIONS: "--max-semi-space-size=16",
};

export interface Parts {
  readonly database: DatabaseParts;
  /** True if this start runs Postgres itself. */
  readonly isDatabaseEmbedded: boolean;
  readonly temporalAddress: string;
  readonly isTemporalEmbedded: boolean;
  readonly oidc: { readonly issuer: string; readonly audience: string } | undefined;
  /** The client of the development issuer that people sign in with; undefined if another issuer is set. */
  readonly consoleClient: string | undefined;
  readonly temporalUi: string | undefined;
  /** Base64; undefined if Cloud KMS has the key. */
  readonly masterKey: string | undefined;
  readonly port: number;
}

/** Removes logins that are not needed: only `migrate` has the owner's, and the API lacks maintenance's. */
export function programEnvironment(
  env: NodeJS.ProcessEnv,
  program: "api" | "worker" | "provision",
): NodeJS.ProcessEnv {
  const kept = withoutLogin(env, "DATABASE_OWNER");
  return program === "api" ? withoutLogin(kept, "DATABASE_MAINTENANCE") : kept;
}

/** The user's environment with all addresses, without settings for servers that are embedded. */
export function childEnvironment(
  inherited: NodeJS.ProcessEnv,
  config: Config,
  parts: Parts,
): NodeJS.ProcessEnv {
  const foreign = (name: string): boolean =>
    (parts.isTemporalEmbedded && name.startsWith("TEMPORAL_")) ||
    (parts.isDatabaseEmbedded && /^PG[A-Z]+$/.test(name));
  const { url, systemUrl, maintenanceUrl, ownerUrl } = parts.database;
  const kept = Object.fromEntries(Object.entries(inherited).filter(([name]) => !foreign(name)));
  return {
    ...MEMORY_SETTINGS,
    ...kept,
    // The last of two equal options counts: the user's.
    NODE_OPTIONS: [MEMORY_SETTINGS.NODE_OPTIONS, kept["NODE_OPTIONS"] ?? ""].join(" ").trim(),
    DATA_DIR: config.dataDir,
    HOST: config.api.host,
    PORT: String(parts.port),
    DATABASE_URL: url,
    ...(systemUrl === undefined ? {} : { DATABASE_SYSTEM_URL: systemUrl }),
    ...(maintenanceUrl === undefined ? {} : { DATABASE_MAINTENANCE_URL: maintenanceUrl }),
    ...(ownerUrl === undefined ? {} : { DATABASE_OWNER_URL: ownerUrl }),
    TEMPORAL_ADDRESS: parts.temporalAddress,
    ...(parts.oidc === undefined
      ? {}
      : { OIDC_ISSUER: parts.oidc.issuer, OIDC_AUDIENCE: parts.oidc.audience }),
    ...(parts.consoleClient === undefined ? {} : { CONSOLE_CLIENT_ID: parts.consoleClient }),
    ...(parts.temporalUi === undefined ? {} : { TEMPORAL_UI_URL: parts.temporalUi }),
    ...(parts.masterKey === undefined ? {} : { MASTER_KEY: parts.masterKey }),
  };
}
