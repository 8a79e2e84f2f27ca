/** The only place that says which settings the API, worker and command-line processes of an embedded start get. */
import type { Config } from "../../config/config.ts";
import { withoutLogin } from "../../config/database-passwords.ts";

/** Undefined: as the user has set it, or not at all. */
interface DatabaseParts {
  readonly url: string;
  readonly systemUrl?: string | undefined;
  readonly maintenanceUrl?: string | undefined;
  readonly ownerUrl?: string | undefined;
}

export interface Parts {
  readonly database: DatabaseParts;
  /** True where this start runs the server itself. */
  readonly isDatabaseEmbedded: boolean;
  readonly temporalAddress: string;
  readonly isTemporalEmbedded: boolean;
  readonly oidc: { readonly issuer: string; readonly audience: string } | undefined;
  /** Base64; undefined where Cloud KMS holds the key. */
  readonly masterKey: string | undefined;
  readonly port: number;
}

/** What of it a program gets: the owner's login is for `migrate`, that of maintenance for the worker and the command line. */
export function programEnvironment(
  env: NodeJS.ProcessEnv,
  program: "api" | "worker" | "provision",
): NodeJS.ProcessEnv {
  const kept = withoutLogin(env, "DATABASE_OWNER");
  return program === "api" ? withoutLogin(kept, "DATABASE_MAINTENANCE") : kept;
}

/** The caller's environment with the parts filled in. What the user set for servers of their own does not reach embedded ones. */
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
    ...kept,
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
    ...(parts.masterKey === undefined ? {} : { MASTER_KEY: parts.masterKey }),
  };
}
