/** The only place that says which settings the API, worker and command-line processes of an embedded start get. */
import type { Config } from "../config.ts";

export interface Parts {
  readonly databaseUrl: string;
  /** True where this start runs the server itself. */
  readonly isDatabaseEmbedded: boolean;
  readonly temporalAddress: string;
  readonly isTemporalEmbedded: boolean;
  readonly oidc: { readonly issuer: string; readonly audience: string } | undefined;
  /** Base64; undefined where Cloud KMS holds the key. */
  readonly masterKey: string | undefined;
  readonly port: number;
}

/** The caller's environment with the parts filled in. What the user set for servers of their own does not reach embedded ones. */
export function childEnvironment(inherited: NodeJS.ProcessEnv, config: Config, parts: Parts): NodeJS.ProcessEnv {
  const foreign = (name: string): boolean => (parts.isTemporalEmbedded && name.startsWith("TEMPORAL_")) || (parts.isDatabaseEmbedded && /^PG[A-Z]+$/.test(name));
  const kept = Object.fromEntries(Object.entries(inherited).filter(([name]) => !foreign(name)));
  return {
    ...kept,
    DATA_DIR: config.dataDir,
    HOST: config.api.host,
    PORT: String(parts.port),
    DATABASE_URL: parts.databaseUrl,
    TEMPORAL_ADDRESS: parts.temporalAddress,
    ...(parts.oidc === undefined ? {} : { OIDC_ISSUER: parts.oidc.issuer, OIDC_AUDIENCE: parts.oidc.audience }),
    ...(parts.masterKey === undefined ? {} : { MASTER_KEY: parts.masterKey }),
  };
}
