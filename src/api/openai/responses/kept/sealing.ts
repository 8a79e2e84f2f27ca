/** Encrypts JSON values with the organization's key and decrypts them: long ones in threads. */
import { setImmediate as nextTurn } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import type { SealedText } from "../../../../db/responses/sealed-text.ts";
import { DomainError } from "../../../../domain/errors.ts";
import { createSlots } from "../../../../process/concurrency/slots.ts";
import { type Keyring, openBytes, sealBytes } from "../../../../storage/keys/keyring.ts";
import type { OpenJob, SealJob, SealingAnswer } from "./sealing-thread.ts";

interface Sealed extends SealedText {
  /** Of the value as JSON. */
  readonly characters: number;
}

export interface Sealing {
  /** @param place additional authenticated data, which binds what is sealed to its place. */
  seal(organizationId: string, value: unknown, place: Buffer): Promise<Sealed>;
  /** @throws DomainError `corrupt`, or `not_found` if the key is gone. */
  open<T>(organizationId: string, sealed: SealedText, place: Buffer): Promise<T>;
  /** Runs work that reads more than {@link INLINE_BYTES} when its organization has a seat for it. */
  seated<T>(organizationId: string, bytes: number, work: () => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

/** What takes the event loop about a millisecond; more of it leaves the loop. */
const INLINE_BYTES = 256 * 1_024;
const THREADS = 2;
const IDLE_MS = 60_000;
const THREAD = new URL("sealing-thread.ts", import.meta.url);
/** Bounds the memory of what is read at once: a conversation has up to 16 MiB. */
const SEATS = { atOnce: 4, ofOwner: 2 };

export function createSealing(keyring: Keyring): Sealing {
  const threads = createThreads();
  const seats = createSlots(SEATS);
  return {
    async seal(organizationId, value, place) {
      const { id: keyId, secret: key } = await keyring.current(organizationId);
      if (roughLength(value) > INLINE_BYTES) {
        const answer = await threads.ask(organizationId, { key, place, value });
        if ("sealed" in answer)
          return { keyId, sealed: Buffer.from(answer.sealed), characters: answer.characters };
        throw failed(answer);
      }
      const text = JSON.stringify(value);
      return { keyId, sealed: sealBytes(key, Buffer.from(text), place), characters: text.length };
    },
    async open<T>(organizationId: string, { keyId, sealed }: SealedText, place: Buffer) {
      const { secret: key } = await keyring.byId(organizationId, keyId);
      if (sealed.length <= INLINE_BYTES) return JSON.parse(openBytes(key, sealed, place).toString()) as T;
      const answer = await threads.ask(organizationId, { key, place, sealed });
      if ("value" in answer) return answer.value as T;
      throw failed(answer);
    },
    seated: (organizationId, bytes, work) =>
      bytes > INLINE_BYTES ? seats.run(organizationId, work) : work(),
    close: () => threads.close(),
  };
}

function failed(answer: SealingAnswer): Error {
  if ("reason" in answer) return new DomainError(answer.reason, answer.message);
  return new Error("the sealing thread answered something else");
}

/** What a single value of a list costs besides its length, in characters. */
const VALUE_COST = 512;

/** Like `Promise.all` over short work on the event loop, which others get after each {@link INLINE_BYTES}. */
export async function inTurns<T, Result>(
  values: readonly T[],
  lengthOf: (value: T) => number,
  work: (value: T, index: number) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  let done = 0;
  for (const [index, value] of values.entries()) {
    results.push(await work(value, index));
    done += lengthOf(value) + VALUE_COST;
    if (done < INLINE_BYTES) continue;
    done = 0;
    await nextTurn();
  }
  return results;
}

/** About how long the value is as JSON, without making it. */
export function roughLength(value: unknown): number {
  if (typeof value === "string") return value.length + 2;
  if (typeof value !== "object" || value === null) return 8;
  if (Array.isArray(value)) return value.reduce<number>((sum, one) => sum + roughLength(one) + 1, 2);
  return Object.entries(value).reduce((sum, [name, one]) => sum + name.length + 4 + roughLength(one), 2);
}

/** Opens threads as they are needed, which end when they are idle. Organizations take turns. */
function createThreads() {
  const slots = createSlots({ atOnce: THREADS, ofOwner: 1 });
  const idle = new Map<Worker, NodeJS.Timeout>();

  const open = (): Worker => {
    const thread = new Worker(THREAD);
    // An error reaches the caller that waits for the answer.
    return thread.on("error", () => undefined).once("exit", () => idle.delete(thread));
  };
  const take = (): Worker => {
    const thread = [...idle.keys()].at(-1);
    if (thread === undefined) return open();
    clearTimeout(idle.get(thread));
    idle.delete(thread);
    thread.ref();
    return thread;
  };
  const rest = (thread: Worker): void => {
    thread.unref();
    const end = (): void => {
      idle.delete(thread);
      void thread.terminate();
    };
    idle.set(thread, setTimeout(end, IDLE_MS).unref());
  };
  return {
    ask: (owner: string, job: SealJob | OpenJob): Promise<SealingAnswer> =>
      slots.run(owner, async () => {
        const thread = take();
        const answer = await answerOf(thread, job);
        rest(thread);
        return answer;
      }),
    async close(): Promise<void> {
      const threads = [...idle.keys()];
      for (const timer of idle.values()) clearTimeout(timer);
      idle.clear();
      await Promise.all(threads.map((thread) => thread.terminate()));
    },
  };
}

/** @throws what ended the thread, which cannot be used again. */
async function answerOf(thread: Worker, job: SealJob | OpenJob): Promise<SealingAnswer> {
  const { promise, resolve, reject } = Promise.withResolvers<SealingAnswer>();
  const lost = (code: number): void =>
    reject(new Error(`the sealing thread ended with ${code} before it answered`));
  thread.once("message", resolve).once("error", reject).once("exit", lost).postMessage(job);
  try {
    return await promise;
  } finally {
    thread.off("message", resolve).off("error", reject).off("exit", lost);
  }
}
