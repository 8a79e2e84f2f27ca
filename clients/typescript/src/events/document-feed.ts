/**
 * Tells many waits at once that their document may have ended, over one stream: a wait costs no requests
 * while nothing happens.
 */
import type { Client } from "openapi-fetch";
import { ConnectionError } from "../errors.ts";
import { wait } from "../requests.ts";
import type { paths } from "../schema.ts";
import { endOfLog, followEvents } from "./follow-events.ts";

const ENDS = ["document.completed", "document.failed", "document.cancelled", "document.deleted"] as const;
const TYPES = [...ENDS, "document.waiting"] as const;
/** How long the stream stays open for the next wait, so that uploads one after another share it. */
const LINGER_MS = 1_000;
/** How many ids are remembered for uploads that have no answer yet; beyond it all of them look once. */
const MAX_RECENT = 10_000;
/**
 * The document that has waited longest is looked at this often whatever the stream brings: a right that is
 * lost meanwhile is an event that nobody is sent. If it is out of reach, all others are looked at too.
 */
const LOOK_MS = 60_000;
/** A key's streams are all in use, for instance: waits then poll. */
const GIVES_UP_ON = [429];

/** One wait. */
export interface Follower {
  /** Which document it is; what happened to it since {@link DocumentFeed.join} counts. */
  readonly follow: (documentId: string) => void;
  /** False if events cannot be followed. */
  readonly isTold: () => boolean;
  /**
   * Resolves when something has happened to the document since the last call.
   * @param pollMs after which it resolves if events cannot be followed.
   */
  readonly news: (pollMs: number, signal: AbortSignal | undefined) => Promise<void>;
  /** Says that the document is out of reach. If nobody told so, all others look at theirs. */
  readonly alarm: () => void;
  readonly leave: () => void;
}

export interface DocumentFeed {
  /**
   * Resolves when nothing that happens from now on is missed.
   * @throws ConnectionError if the service does not answer at all
   */
  join(signal: AbortSignal | undefined): Promise<Follower>;
}

interface Waiting {
  documentId: string | undefined;
  hasNews: boolean;
  /** Whether the news is only that it is its turn to look. */
  isLooking: boolean;
  wake: () => void;
}

interface Stream {
  readonly stop: AbortController;
  /** The error if nothing answered; never rejects, and other refusals may concern events alone. */
  readonly isReady: Promise<ConnectionError | undefined>;
  isBroken: boolean;
}

const nothing = (): void => undefined;

export function createDocumentFeed(api: Client<paths>, maxRetries: number): DocumentFeed {
  // In the order in which they are looked at next.
  const followers = new Set<Waiting>();
  const recent = new Set<string>();
  let stream: Stream | undefined;
  let lingering: ReturnType<typeof setTimeout> | undefined;

  const tell = (follower: Waiting): void => {
    follower.hasNews = true;
    follower.isLooking = false;
    follower.wake();
  };
  const onEvent = (documentId: string): void => {
    if (recent.size < MAX_RECENT) recent.add(documentId);
    for (const follower of followers) if (follower.documentId === documentId) tell(follower);
  };
  const lookAtNext = (): void => {
    const next = [...followers].find(({ documentId }) => documentId !== undefined);
    if (next === undefined) return;
    followers.delete(next);
    followers.add(next);
    tell(next);
    next.isLooking = true;
  };
  const tellAll = (): void => {
    for (const follower of followers) tell(follower);
  };
  const leave = (follower: Waiting): void => {
    followers.delete(follower);
    if (followers.size > 0) return;
    recent.clear();
    lingering = setTimeout(() => {
      stream?.stop.abort();
      stream = undefined;
    }, LINGER_MS);
  };

  return {
    async join(signal) {
      clearTimeout(lingering);
      if (stream?.isBroken) stream = undefined;
      stream ??= startStream(api, maxRetries, { onEvent, onBroken: tellAll, lookAtNext });
      const joined = stream;
      const follower: Waiting = { documentId: undefined, hasNews: false, isLooking: false, wake: nothing };
      followers.add(follower);
      try {
        const fault = await unlessAborted(joined.isReady, signal);
        if (fault !== undefined) throw fault;
      } catch (reason) {
        leave(follower);
        throw reason;
      }
      return {
        follow(documentId) {
          follower.documentId = documentId;
          follower.hasNews ||= recent.has(documentId) || recent.size >= MAX_RECENT;
        },
        isTold: () => !joined.isBroken,
        news: (pollMs, ends) => (joined.isBroken ? wait(pollMs, ends) : newsOf(follower, ends)),
        alarm() {
          if (follower.isLooking) tellAll();
        },
        leave: () => leave(follower),
      };
    },
  };
}

async function newsOf(follower: Waiting, signal: AbortSignal | undefined): Promise<void> {
  if (!follower.hasNews) {
    const news = new Promise<void>((resolve) => (follower.wake = resolve));
    await unlessAborted(news, signal);
  }
  follower.hasNews = false;
}

interface Listener {
  readonly onEvent: (documentId: string) => void;
  readonly onBroken: () => void;
  readonly lookAtNext: () => void;
}

function startStream(
  api: Client<paths>,
  maxRetries: number,
  { onEvent, onBroken, lookAtNext }: Listener,
): Stream {
  const stop = new AbortController();
  const cursor = endOfLog(api, { signal: stop.signal, maxRetries });
  const stream: Stream = {
    stop,
    isReady: cursor.then(
      () => undefined,
      (fault: unknown) => (fault instanceof ConnectionError ? fault : undefined),
    ),
    isBroken: false,
  };
  const looking = setInterval(lookAtNext, LOOK_MS);
  const read = async (): Promise<void> => {
    try {
      const options = { after: await cursor, types: [...TYPES], signal: stop.signal };
      for await (const { event } of followEvents(api, options, { maxRetries, throws: GIVES_UP_ON }))
        if (event.resource.id !== null) onEvent(event.resource.id);
    } catch {
      // Whatever keeps events from being followed: polling either works or says what is wrong.
      stream.isBroken = true;
      onBroken();
    } finally {
      clearInterval(looking);
    }
  };
  void read();
  return stream;
}

/** @throws the signal's reason if it is aborted first. */
async function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return promise;
  signal.throwIfAborted();
  let stop = nothing;
  const aborted = new Promise<never>((_resolve, reject) => {
    stop = () => reject(signal.reason as Error);
    signal.addEventListener("abort", stop, { once: true });
  });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener("abort", stop);
  }
}
