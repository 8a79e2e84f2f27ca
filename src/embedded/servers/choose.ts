/** Decides which servers a start runs itself, and at which address the other processes find each. */
import type { Config } from "../../config/config.ts";
import { DEVELOPMENT_AUDIENCE, issuerUrl, startIssuer } from "./issuer-part.ts";
import { freePort } from "../ports.ts";
import { type Postgres, startPostgres } from "./postgres.ts";
import type { Part } from "../processes/supervise.ts";
import { chooseTemporalPorts, startTemporal, temporalAddress } from "./temporal.ts";

/** The issuer's preferred port. The tokens' `iss` has it: a fixed one keeps them valid. */
const ISSUER_PORT = 8090;

/** A server of the user, or one that is started here. */
interface Server<Address, P extends Part = Part> {
  readonly address: Address;
  readonly part: P | undefined;
}

interface Shared {
  readonly dataDir: string;
  readonly cacheDir: string;
  readonly onProgress: (line: string) => void;
  /** Ends a running download. */
  readonly signal: AbortSignal;
}

export interface Servers {
  /** Undefined if the server is started here: its address is known only then. */
  readonly postgres: Server<string | undefined, Part<Postgres>>;
  readonly temporal: Server<string>;
  readonly temporalUi: string | undefined;
  /** Undefined if there is none: in production without OIDC_ISSUER. */
  readonly issuer: Server<{ issuer: string; audience: string }> | undefined;
}

/** Chooses the ports that must be known before a server runs. A restart keeps them. */
export async function planServers(config: Config, env: NodeJS.ProcessEnv, shared: Shared): Promise<Servers> {
  const ports = await chooseTemporalPorts();
  const isTemporalOurs = config.temporal.address === undefined;
  return {
    postgres: {
      address: config.database.url,
      part: config.database.url === undefined ? postgresPart(shared) : undefined,
    },
    temporal: {
      address: config.temporal.address ?? temporalAddress(ports.port),
      part: isTemporalOurs
        ? { name: "temporal", start: (onLaunch) => startTemporal({ ...shared, ...ports, onLaunch }) }
        : undefined,
    },
    temporalUi: isTemporalOurs ? `http://${temporalAddress(ports.uiPort)}` : undefined,
    issuer: await planIssuer(config, env, shared.dataDir),
  };
}

function postgresPart(shared: Shared): Part<Postgres> {
  let port: number | undefined;
  return {
    name: "postgres",
    async start(onLaunch) {
      const server = await startPostgres({ ...shared, port, onLaunch });
      port = server.port;
      return server;
    },
  };
}

async function planIssuer(
  { oidc, environment }: Config,
  env: NodeJS.ProcessEnv,
  dataDir: string,
): Promise<Servers["issuer"]> {
  if (oidc !== undefined) return { address: oidc, part: undefined };
  if (environment === "production") return undefined;
  const port = await freePort(ISSUER_PORT);
  return {
    address: { issuer: issuerUrl(port), audience: DEVELOPMENT_AUDIENCE },
    part: { name: "issuer", start: (onLaunch) => startIssuer({ env, dataDir, port }, onLaunch) },
  };
}
