/** The conversations in memory and in the browser's database, and who is told when they change. */
import type { Conversation, Turn } from "./conversation.ts";
import { type ChatDatabase, readAll } from "./database.ts";

/** What is shown is made new so often at most: faster nobody reads, and slower machines must still type. */
const SHOW_MS = 80;

export interface Shelf {
  /** Undefined until they are read. Newest first. */
  list(): readonly Conversation[] | undefined;
  onChange(listener: () => void): () => void;
  find(id: string): Conversation | undefined;
  put(conversation: Conversation): void;
  changeTurn(conversationId: string, turnId: string, change: (turn: Turn) => Turn): void;
  /** Writes a conversation as it is into the database. */
  keep(id: string): Promise<void>;
  remove(id: string): void;
  /** Resolves when what the database has is in memory. */
  readonly isRead: Promise<void>;
}

export function createShelf(opening: Promise<ChatDatabase>): Shelf {
  const listeners = new Set<() => void>();
  let all: readonly Conversation[] | undefined;
  let isTelling = false;
  const tell = (): void => {
    if (isTelling) return;
    isTelling = true;
    setTimeout(() => {
      isTelling = false;
      for (const listener of listeners) listener();
    }, SHOW_MS);
  };
  const find = (id: string): Conversation | undefined => all?.find((each) => each.id === id);
  const put = (conversation: Conversation): void => {
    const others = (all ?? []).filter(({ id }) => id !== conversation.id);
    all = [conversation, ...others].toSorted((a, b) => b.updatedAt.localeCompare(a.updatedAt));
    tell();
  };
  const isRead = opening.then(readAll).then((read) => {
    all = [...(all ?? []), ...read.filter(({ id }) => find(id) === undefined)];
    tell();
  });
  return {
    list: () => all,
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    find,
    put,
    changeTurn(conversationId, turnId, change) {
      const conversation = find(conversationId);
      if (conversation === undefined) return;
      const turns = conversation.turns.map((turn) => (turn.id === turnId ? change(turn) : turn));
      put({ ...conversation, turns });
    },
    async keep(id) {
      const database = await opening;
      const conversation = find(id);
      if (conversation !== undefined) await database.put("conversations", conversation);
    },
    remove(id) {
      all = all?.filter((each) => each.id !== id);
      tell();
      void opening.then((database) => database.delete("conversations", id));
    },
    isRead,
  };
}
