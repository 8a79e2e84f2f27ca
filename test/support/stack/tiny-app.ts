/** The real HTTP layer over a few routes of a test's own, without a database behind it. */
import { createSharedCounter } from "../../../src/api/limits/shared-counter.ts";
import { createApp } from "../../../src/api/app.ts";
import type { RateLimits } from "../../../src/api/middleware/rate-limit.ts";
import type { Route } from "../../../src/api/route.ts";
import { listen } from "../../../src/api/server.ts";
import { createAuthenticator } from "../../../src/auth/authenticate.ts";
import { createLog } from "../../../src/process/log.ts";
import type { Deps } from "../../../src/deps.ts";

export interface TinyApp {
  readonly url: string;
  readonly port: number;
  /** Everything that was logged, one JSON object a line. */
  readonly logged: string[];
  close(): Promise<void>;
}

const RATE_LIMITS: RateLimits = {
  requestsPerMinute: 1_000,
  chatTurnsPerMinute: 1_000,
  requestsPerUserAndMinute: 1_000,
  chatTurnsPerUserAndMinute: 1_000,
  refusalsPerMinute: 1_000,
};

export async function startTinyApp(routes: readonly Route[], parts: Partial<Deps> = {}): Promise<TinyApp> {
  const logged: string[] = [];
  const log = createLog({
    level: "debug",
    name: "test",
    destination: { write: (line) => void logged.push(line) },
  });
  const deps = {
    log,
    config: {
      api: { trustedProxies: 0, corsOrigins: [] },
      limits: { ...RATE_LIMITS, maxUploadBytes: 1_000 },
    },
    callerCounts: createSharedCounter({ add: async () => [] }),
    // Without an issuer and a database it refuses everybody, which is what these tests need of it.
    authenticator: createAuthenticator({ db: undefined as never, pepper: Buffer.alloc(32) }),
    ...parts,
  } as unknown as Deps;
  const server = await listen(createApp(deps, routes), { host: "127.0.0.1", port: 0 });
  return {
    url: `http://127.0.0.1:${server.port}`,
    port: server.port,
    logged,
    close: () => server.close(100),
  };
}
