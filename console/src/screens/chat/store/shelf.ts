/**
 * The conversations in memory and in the browser's database, and who is told when they change. Tabs tell each
 * other what they keep, so that none writes over what another has asked.
 */
import type { Conversation, Turn } from "./conversation.ts";
import { type ChatDatabase, nameOfChats, readAll } from "./database.ts";

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
  /** Takes over what another tab has kept of it. */
  refresh(id: string): Promise<void>;
  /** Has the tab that receives the answer stop it. */
  askToStop(turnId: string): void;
  /** Resolves when what the database has is in memory. */
  readonly isRead: Promise<void>;
}

/** What tabs tell each other: what they have kept or removed, and which answer is to be stopped. */
type Told = { readonly changed: string } | { readonly stop: string };

interface Here {
  /** Tells of a turn whether this tab receives its answer: it knows best how it is. */
  isReceived(turnId: string): boolean;
  /** Another tab wants its answer to end. */
  stop(turnId: string): void;
}

export function createShelf(opening: Promise<ChatDatabase>, userId: string, here: Here): Shelf {
  const tabs = new BroadcastChannel(nameOfChats(userId));
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
  const drop = (id: string): void => {
    all = all?.filter((each) => each.id !== id);
    tell();
  };
  const refresh = async (id: string): Promise<void> => {
    const kept = await (await opening).get("conversations", id);
    if (kept === undefined) drop(id);
    else put(merged(kept, find(id)?.turns.filter((turn) => here.isReceived(turn.id)) ?? []));
  };
  const say = (told: Told): void => tabs.postMessage(told);
  tabs.addEventListener("message", ({ data }: MessageEvent<Told>) => {
    if ("stop" in data) here.stop(data.stop);
    else void refresh(data.changed);
  });
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
      if (conversation === undefined) return;
      await database.put("conversations", conversation);
      say({ changed: id });
    },
    remove(id) {
      drop(id);
      void opening.then((database) => database.delete("conversations", id)).then(() => say({ changed: id }));
    },
    refresh,
    askToStop: (turnId) => say({ stop: turnId }),
    isRead,
  };
}

/** A conversation as another tab has kept it, with the turns that this one is writing. */
function merged(kept: Conversation, own: readonly Turn[]): Conversation {
  const turns = kept.turns.map((turn) => own.find(({ id }) => id === turn.id) ?? turn);
  const missing = own.filter(({ id }) => !turns.some((turn) => turn.id === id));
  return { ...kept, turns: [...turns, ...missing] };
}
