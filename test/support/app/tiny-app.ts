/** The real HTTP layer over a few routes, with none of the parts behind it but those that a test gives. */
import { createApp } from "../../../src/api/app.ts";
import type { Deps } from "../../../src/api/deps.ts";
import { createSharedCounter } from "../../../src/api/limits/shared-counter.ts";
import type { Route } from "../../../src/api/route.ts";
import { listen } from "../../../src/api/server.ts";
import { createAuthenticator } from "../../../src/auth/authenticate.ts";
import { loadConfig, requireReal } from "../../../src/config/config.ts";
import type { Database } from "../../../src/db/pool.ts";
import { createLog } from "../../../src/process/log.ts";

export interface TinyApp {
  readonly url: string;
  readonly port: number;
  /** Everything that was logged, one JSON object a line. */
  readonly logged: string[];
  close(): Promise<void>;
}

interface TinyAppOverrides extends Partial<Omit<Deps, "config" | "log" | "close">> {
  /** Settings as the environment has them, over those of {@link SETTINGS}. */
  readonly settings?: Readonly<Record<string, string>>;
}

const SETTINGS = {
  DATABASE_URL: "postgres://nobody@127.0.0.1:1/nowhere",
  DATABASE_SYSTEM_URL: "postgres://nobody@127.0.0.1:1/nowhere",
  TEMPORAL_ADDRESS: "127.0.0.1:1",
  MASTER_KEY: Buffer.alloc(32).toString("base64"),
  MAX_UPLOAD_BYTES: "1000",
  RATE_LIMIT_RPM: "1000",
  CHAT_RATE_LIMIT_RPM: "1000",
  REFUSAL_RATE_LIMIT_RPM: "1000",
};

const nothing = async (): Promise<void> => {};

/**
 * Serves `routes` on a port of its own. Every request is refused as unauthenticated unless the test gives an
 * authenticator.
 * @example await startTinyApp([route], { settings: { TRUSTED_PROXIES: "1" } })
 */
export async function startTinyApp(
  routes: readonly Route[],
  overrides: TinyAppOverrides = {},
): Promise<TinyApp> {
  const logged: string[] = [];
  const deps = tinyDeps(overrides, (line) => logged.push(line));
  const server = await listen(createApp(deps, routes), { host: "127.0.0.1", port: 0 });
  return {
    url: `http://127.0.0.1:${server.port}`,
    port: server.port,
    logged,
    close: () => server.close(100),
  };
}

/** The parts of such an app. One that is neither here nor in `overrides` throws when it is used. */
export function tinyDeps(
  { settings = {}, ...parts }: TinyAppOverrides = {},
  write: (line: string) => void = () => undefined,
): Deps {
  return onlyWith<Deps>({
    config: requireReal(loadConfig({ ...SETTINGS, ...settings })),
    log: createLog({ level: "debug", name: "test", destination: { write } }),
    callerCounts: createSharedCounter({ add: async () => [] }),
    authenticator: createAuthenticator({ db: onlyWith<Database>({}), pepper: Buffer.alloc(32) }),
    audit: { record: () => undefined, refuse: () => undefined, flush: nothing, close: nothing },
    lastUsed: { note: () => undefined, flush: nothing, close: nothing },
    reranker: undefined,
    ...parts,
  });
}

/** Throws when a part is used that the test did not give. */
function onlyWith<T extends object>(parts: Partial<T>): T {
  return new Proxy(parts as T, {
    get(target, name, receiver) {
      if (name in target) return Reflect.get(target, name, receiver);
      throw new Error(`this app has no part "${String(name)}": give it to startTinyApp`);
    },
  });
}
