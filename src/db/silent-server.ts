/** Cuts connections to a Postgres that does not answer, so that nobody waits without end. */
import pg from "pg";
import { stoodStill } from "../process/standstill.ts";
import { hasAnsweredWithin } from "./outages.ts";

const LOOK_MS = 1_000;
/** If a connection is in use for longer, the server is asked whether it answers at all. */
const LONG_IN_USE_MS = 2_000;
/** How long to wait for that answer: a busy server is late without being gone. */
const ANSWER_MS = 5_000;
/** A process that was itself this much too late to look has learned nothing about the server. */
const LATE_MS = 500;

/**
 * Watches the connections of `pools` while they are in use. If the server does not answer, it cuts those that
 * were in use before it was asked, and their queries fail. A statement that is only slow is never cut: the
 * server has its own time-out.
 * @returns what stops the watching.
 */
export function cutWhenSilent(url: string, pools: readonly pg.Pool[]): () => void {
  const inUseSince = new Map<pg.PoolClient, number>();
  let isAsking = false;
  for (const pool of pools) {
    pool.on("acquire", (client) => {
      inUseSince.set(client, performance.now());
    });
    pool.on("release", (_error, client) => {
      inUseSince.delete(client);
    });
    pool.on("remove", (client) => {
      inUseSince.delete(client);
    });
  }
  const look = async (): Promise<void> => {
    const askedAt = performance.now();
    if (![...inUseSince.values()].some((since) => askedAt - since > LONG_IN_USE_MS)) return;
    if (await answers(url)) return;
    if (performance.now() - askedAt > ANSWER_MS + LATE_MS) return;
    // Too little processor time on this machine looks the same, and other connections may have had answers.
    if (stoodStill(ANSWER_MS) || hasAnsweredWithin(performance.now() - askedAt)) return;
    for (const [client, since] of inUseSince)
      if (since < askedAt && client instanceof pg.Client) void client.end().catch(() => undefined);
  };
  const timer = setInterval(() => {
    if (isAsking) return;
    isAsking = true;
    void look().finally(() => {
      isAsking = false;
    });
  }, LOOK_MS).unref();
  return () => clearInterval(timer);
}

/** Whether the server says anything; refusing the connection is an answer too. */
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
