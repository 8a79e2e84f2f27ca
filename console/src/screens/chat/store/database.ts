/** Conversations in the browser's own database, one for each person, so that nobody sees another's. */
import { type DBSchema, type IDBPDatabase, openDB } from "idb";
import type { Conversation } from "./conversation.ts";

interface Schema extends DBSchema {
  conversations: { key: string; value: Conversation; indexes: { "by-time": string } };
}

/** More are in nobody's way, but a list of them is. The oldest go first. */
const MAX_CONVERSATIONS = 500;

export type ChatDatabase = IDBPDatabase<Schema>;

export const nameOfChats = (userId: string): string => `holdfast-chats-${userId}`;

export const openChats = (userId: string): Promise<ChatDatabase> =>
  openDB<Schema>(nameOfChats(userId), 1, {
    upgrade(database) {
      const store = database.createObjectStore("conversations", { keyPath: "id" });
      store.createIndex("by-time", "updatedAt");
    },
  });

/** Newest first. */
export async function readAll(database: ChatDatabase): Promise<Conversation[]> {
  const all = await database.getAllFromIndex("conversations", "by-time");
  const extra = all.slice(0, Math.max(0, all.length - MAX_CONVERSATIONS));
  for (const { id } of extra) await database.delete("conversations", id);
  return all.slice(extra.length).toReversed();
}
