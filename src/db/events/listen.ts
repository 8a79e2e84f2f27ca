/** Listens for organizations that have new events, and for agents that change, on a connection of its own. */
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { isUuid } from "../../domain/ids.ts";
import { AGENTS_CHANNEL } from "../turns/agents-in-chat.ts";
import { EVENTS_CHANNEL } from "./place.ts";

interface Listening {
  /** The application's login; listening needs no right of its own. */
  readonly url: string;
  readonly onEvents: (organizationId: string) => void;
  /** Gets the id of an agent that was changed or deleted, or of a space that was deleted with its agents. */
  readonly onAgents: (id: string) => void;
  /** Called after each connection: what was told before it went unheard. */
  readonly onConnected: () => void;
  readonly onLost: (error: unknown) => void;
}

const CONNECT_TIMEOUT_MS = 5_000;
/** A connection that a firewall dropped silently is found within this time and {@link ANSWER_MS}. */
const PROBE_EVERY_MS = 15_000;
const ANSWER_MS = 5_000;
const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 15_000;

/** Connects, and reconnects with growing pauses. Never throws. @returns a function that stops listening. */
export function listenForEvents(listening: Listening): () => Promise<void> {
  const { url, onEvents, onAgents, onConnected, onLost } = listening;
  const stop = new AbortController();
  let pauseMs = FIRST_PAUSE_MS;

  async function listenOnce(): Promise<void> {
    const client = new pg.Client({
      connectionString: url,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      query_timeout: ANSWER_MS,
      keepAlive: true,
      application_name: "holdfast events",
    });
    const lost = Promise.withResolvers<never>();
    lost.promise.catch(() => undefined);
    client.on("error", (error) => lost.reject(error));
    client.on("end", () => lost.reject(new Error("the connection ended")));
    client.on("notification", ({ channel, payload = "" }) => {
      if (isUuid(payload)) (channel === AGENTS_CHANNEL ? onAgents : onEvents)(payload);
    });
    try {
      await client.connect();
      await client.query(`listen ${EVENTS_CHANNEL}; listen ${AGENTS_CHANNEL}`);
      pauseMs = FIRST_PAUSE_MS;
      onConnected();
      for (;;) {
        await Promise.race([sleep(PROBE_EVERY_MS, undefined, { signal: stop.signal }), lost.promise]);
        await client.query("select 1");
      }
    } finally {
      void client.end().catch(() => undefined);
    }
  }

  async function keepListening(): Promise<void> {
    while (!stop.signal.aborted) {
      try {
        await listenOnce();
      } catch (error) {
        if (stop.signal.aborted) return;
        onLost(error);
      }
      await sleep(pauseMs, undefined, { signal: stop.signal }).catch(() => undefined);
      pauseMs = Math.min(LONGEST_PAUSE_MS, pauseMs * 2);
    }
  }

  const ended = keepListening();
  return async () => {
    stop.abort();
    await ended;
  };
}
