/** The only place that notices a Postgres that holds its connections and says nothing, and cuts them, so that nobody waits on it. */
import pg from "pg";

const LOOK_MS = 1_000;
/** A connection that is in use for longer is the occasion to ask whether the server answers at all. */
const LONG_IN_USE_MS = 2_000;
/** A busy server answers late without being gone. */
const ANSWER_MS = 5_000;
/** A process that was itself too busy to look in time has learned nothing about the server. */
const LATE_MS = 500;

/**
 * Watches connections while they are in use; those that were so before the server was asked in vain are cut, and their queries fail.
 * The server bounds its statements itself, so a slow one is never cut. @returns what stops it.
 */
export function cutWhenSilent(url: string, pools: readonly pg.Pool[]): () => void {
  const inUseSince = new Map<pg.PoolClient, number>();
  let isAsking = false;
  for (const pool of pools) {
    pool.on("acquire", (client) => void inUseSince.set(client, performance.now()));
    pool.on("release", (_error, client) => void inUseSince.delete(client));
    pool.on("remove", (client) => void inUseSince.delete(client));
  }
  const look = async (): Promise<void> => {
    const askedAt = performance.now();
    if (![...inUseSince.values()].some((since) => askedAt - since > LONG_IN_USE_MS)) return;
    if (await answers(url)) return;
    if (performance.now() - askedAt > ANSWER_MS + LATE_MS) return;
    for (const [client, since] of inUseSince)
      if (since < askedAt && client instanceof pg.Client) void client.end().catch(() => undefined);
  };
  const timer = setInterval(() => {
    if (isAsking) return;
    isAsking = true;
    void look().finally(() => (isAsking = false));
  }, LOOK_MS).unref();
  return () => clearInterval(timer);
}

/** A server that refuses the connection in its own words answers too. */
async function answers(url: string): Promise<boolean> {
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: ANSWER_MS,
    application_name: "holdfast watch",
  });
  client.on("error", () => undefined);
  try {
    await client.connect();
    return true;
  } catch (error) {
    return error instanceof pg.DatabaseError;
  } finally {
    void client.end().catch(() => undefined);
  }
}
