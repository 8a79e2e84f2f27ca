/** Keeps the sealed messages of a streamed answer, and reads them again after a broken connection. */
import type { EventStore } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import type { JSONRPCMessage } from "@modelcontextprotocol/sdk/types.js";
import {
  beginMcpAnswer,
  endMcpAnswer,
  type McpAnswerKey,
  type SealedMessage,
  writeMcpMessage,
} from "../../db/mcp/answers.ts";
import { openBytes, sealBytes } from "../../storage/keys/keyring.ts";
import type { Deps } from "../deps.ts";

/** The additional authenticated data binds a message to its answer and its place there. */
const aad = (streamId: string, no: number): Buffer => Buffer.from(`mcp answer\0${streamId}\0${no}`);

export const eventIdOf = (streamId: string, no: number): string => `${streamId}_${no}`;

/** Undefined for what is no id of a message of an answer. */
export function placeOfEvent(eventId: string): { streamId: string; no: number } | undefined {
  const match = /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})_(\d{1,7})$/.exec(eventId);
  return match === null ? undefined : { streamId: match[1]!, no: Number(match[2]) };
}

interface Kept extends Omit<McpAnswerKey, "streamId"> {
  readonly requestId: string;
  readonly apiProcessId: string;
  /** What the caller reaches. */
  readonly spaceIds: readonly string[];
}

export interface AnswerStore extends EventStore {
  /** Undefined before the first message, and for an answer that cannot be gone on with. */
  readonly streamId: string | undefined;
  /** Call before a message tells of these documents. */
  shown(documentIds: readonly string[]): void;
  /** After what was written before. */
  end(): Promise<void>;
}

/** Takes the messages of one answer, in their order. What cannot be kept is sent all the same. */
export function createAnswerStore(
  { db, keyring, log }: Pick<Deps, "db" | "keyring" | "log">,
  { organization, sessionId, ...begun }: Kept,
): AnswerStore {
  const documentIds = new Set<string>();
  let streamId: string | undefined;
  let count = 0;
  let written = Promise.resolve();

  async function write(key: McpAnswerKey, no: number, message: JSONRPCMessage): Promise<void> {
    if (no === 0) await beginMcpAnswer(db, key, begun);
    // The first event of an answer may be empty: a place to go on from.
    if (!("jsonrpc" in message)) return;
    const { id: keyId, secret } = await keyring.current(organization.id);
    const sealed = sealBytes(secret, Buffer.from(JSON.stringify(message)), aad(key.streamId, no));
    await writeMcpMessage(db, key, { no, keyId, sealed }, [...documentIds]);
    if ("result" in message || "error" in message) await endMcpAnswer(db, key);
  }

  return {
    get streamId() {
      return streamId;
    },
    storeEvent(stream, message) {
      streamId = stream;
      const no = count;
      count += 1;
      written = written.then(() =>
        write({ organization, sessionId, streamId: stream }, no, message).catch((error: unknown) =>
          log.warn({ err: error }, "a Model Context Protocol message could not be stored"),
        ),
      );
      return written.then(() => eventIdOf(stream, no));
    },
    shown(ids) {
      for (const id of ids) documentIds.add(id.toLowerCase());
    },
    replayEventsAfter: () => Promise.reject(new Error("answers are read by resumeAnswer")),
    async end() {
      await written;
      if (streamId !== undefined) await endMcpAnswer(db, { organization, streamId });
    },
  };
}

export async function openMessages(
  { keyring }: Pick<Deps, "keyring">,
  { organization, streamId }: McpAnswerKey,
  messages: readonly SealedMessage[],
): Promise<{ readonly no: number; readonly text: string }[]> {
  return Promise.all(
    messages.map(async ({ no, keyId, sealed }) => {
      const { secret } = await keyring.byId(organization.id, keyId);
      return { no, text: openBytes(secret, sealed, aad(streamId, no)).toString() };
    }),
  );
}
