/**
 * The one stream of events of this tab. What is shown is asked again when an event tells of it, so that
 * another person's change appears at once; a stream that breaks is opened again and goes on where it was.
 */
import type { Holdfast, HoldfastEvent } from "@holdfast/client";
import { HoldfastError } from "@holdfast/client";
import type { QueryClient } from "@tanstack/react-query";
import type { Kind } from "../api/keys.ts";
import { SessionEnded } from "../auth/session.ts";
import { concerns, idsOf, kindsOf } from "./kinds.ts";

/** `behind`: what is shown may be older than what is. */
export type LiveState = "starting" | "live" | "behind";

export interface Live {
  state(): LiveState;
  /** @returns a function that ends the subscription */
  onState(listener: () => void): () => void;
  stop(): void;
}

/** What changes within it is asked once: an upload of a folder makes hundreds of events. */
const GATHER_MS = 250;
const RETRY_MS = 2_000;
/** The service writes a line at least every 15 s. */
const SILENCE_MS = 40_000;

/** Sends the requests of the stream, and hears what comes over it. */
export interface Listener {
  send(request: Request): Promise<Response>;
  onHeard(listener: (isHeard: boolean) => void): void;
}

export function createListener(): Listener {
  let tell: (isHeard: boolean) => void = () => undefined;
  return {
    onHeard(listener) {
      tell = listener;
    },
    async send(request) {
      try {
        const response = await fetch(request);
        tell(response.ok);
        if (!response.ok || response.body === null) return response;
        const heard = new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
          transform(bytes, controller) {
            tell(true);
            controller.enqueue(bytes);
          },
          flush: () => tell(false),
        });
        const isStream = request.url.includes("/v1/events/stream");
        return isStream ? new Response(response.body.pipeThrough(heard), response) : response;
      } catch (error) {
        tell(false);
        throw error;
      }
    },
  };
}

export function createLive(holdfast: Holdfast, queries: QueryClient, listener: Listener): Live {
  const stateListeners = new Set<() => void>();
  const refresh = createRefresh(queries);
  let state: LiveState = "starting";
  let heardAt = 0;
  let connection = new AbortController();
  const stopped = new AbortController();
  const setState = (next: LiveState): void => {
    if (next === state) return;
    state = next;
    for (const told of stateListeners) told();
  };
  let isGap = false;
  listener.onHeard((isHeard) => {
    if (isHeard) heardAt = Date.now();
    // What happened since the stream broke is not in it: it is asked for once the next one has begun.
    if (isHeard && isGap) refresh("all");
    if (isHeard) isGap = false;
    setState(isHeard ? "live" : "behind");
  });
  void follow(holdfast, {
    isStopped: () => stopped.signal.aborted,
    nextSignal: () => (connection = new AbortController()).signal,
    receive: refresh,
    lost() {
      isGap = true;
    },
    failed: () => setState("behind"),
  });
  const leave = watchNetwork({
    // A connection that a sleeping laptop or another network has cut says nothing of it.
    restart: () => connection.abort(new Error("opened again")),
    behind: () => setState("behind"),
    isSilent: () => state === "live" && Date.now() - heardAt > SILENCE_MS,
  });
  return {
    state: () => state,
    onState(told) {
      stateListeners.add(told);
      return () => stateListeners.delete(told);
    },
    stop() {
      leave();
      stopped.abort();
      connection.abort(new Error("stopped"));
    },
  };
}

interface Following {
  isStopped(): boolean;
  nextSignal(): AbortSignal;
  receive(event: HoldfastEvent): void;
  /** Events between the cursor and now are not kept any more. */
  lost(): void;
  failed(): void;
}

async function follow(holdfast: Holdfast, following: Following): Promise<void> {
  let after = "now";
  while (!following.isStopped()) {
    try {
      for await (const { event, cursor } of holdfast.events({ after, signal: following.nextSignal() })) {
        after = cursor;
        following.receive(event);
      }
    } catch (error) {
      if (following.isStopped() || error instanceof SessionEnded) return;
      const isLost = error instanceof HoldfastError && error.code === "cursor_expired";
      // Without a cursor nobody knows what has happened since the last event.
      if (isLost || after === "now") following.lost();
      if (isLost) after = "now";
      following.failed();
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
  }
}

/** What is to be asked again of a kind: what these ids name and all lists, or everything. */
type Gathered = Map<Kind, Set<string> | "every">;

function createRefresh(queries: QueryClient): (what: HoldfastEvent | "all") => void {
  let gathered: Gathered | "all" | undefined;
  let isRunning = false;
  const invalidate = (what: Gathered | "all"): Promise<void> =>
    what === "all"
      ? queries.invalidateQueries()
      : queries.invalidateQueries({
          predicate({ queryKey }) {
            const ids = what.get(queryKey[0] as Kind);
            return ids === "every" || (ids !== undefined && concerns(queryKey, ids));
          },
        });
  const run = (): void => {
    const what = gathered!;
    gathered = undefined;
    isRunning = true;
    // What is asked again gives up the answer on its way: under a stream of events none would ever arrive.
    void invalidate(what).finally(() => {
      isRunning = false;
      if (gathered !== undefined) setTimeout(run, GATHER_MS);
    });
  };
  const gather = (event: HoldfastEvent, before: Gathered): Gathered | "all" => {
    const kinds = kindsOf(event);
    if (kinds === "all") return "all";
    const ids = idsOf(event);
    for (const kind of kinds) {
      const known = before.get(kind) ?? new Set<string>();
      if (ids === undefined || known === "every") before.set(kind, "every");
      else before.set(kind, new Set([...known, ...ids]));
    }
    return before;
  };
  return (what) => {
    if (gathered === undefined && !isRunning) setTimeout(run, GATHER_MS);
    gathered = what === "all" || gathered === "all" ? "all" : gather(what, gathered ?? new Map());
  };
}

interface Network {
  restart(): void;
  behind(): void;
  isSilent(): boolean;
}

const WATCH_MS = 5_000;

function watchNetwork({ restart, behind, isSilent }: Network): () => void {
  /** What is still on its way over the old connection does not count as heard. */
  const cut = (): void => {
    restart();
    behind();
  };
  const look = (): void => {
    if (isSilent()) cut();
  };
  const timer = setInterval(look, WATCH_MS);
  addEventListener("online", restart);
  addEventListener("offline", cut);
  document.addEventListener("visibilitychange", look);
  return () => {
    clearInterval(timer);
    removeEventListener("online", restart);
    removeEventListener("offline", cut);
    document.removeEventListener("visibilitychange", look);
  };
}
