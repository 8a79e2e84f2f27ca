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
  /** Writes a conversation into the database, beside what other tabs have asked in it. */
  keep(id: string, changed?: { readonly title: string }): Promise<void>;
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
  /** Another tab has changed it. */
  changed(conversation: Conversation): void;
}

export function createShelf(opening: Promise<ChatDatabase>, userId: string, here: Here): Shelf {
  const tabs = new BroadcastChannel(nameOfChats(userId));
  const listeners = new Set<() => void>();
  let all: readonly Conversation[] | undefined;
  /** The ids of what the database has, or had. */
  const wereKept = new Set<string>();
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
    if (kept === undefined) return drop(id);
    const conversation = together(kept, find(id), here);
    wereKept.add(id);
    put(conversation);
    here.changed(conversation);
  };
  const say = (told: Told): void => tabs.postMessage(told);
  tabs.addEventListener("message", ({ data }: MessageEvent<Told>) => {
    if ("stop" in data) here.stop(data.stop);
    else void refresh(data.changed);
  });
  const isRead = opening.then(readAll).then((read) => {
    for (const { id } of read) wereKept.add(id);
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
    async keep(id, changed) {
      const { store, done } = (await opening).transaction("conversations", "readwrite");
      const kept = await store.get(id);
      const mine = find(id);
      // Another tab has removed it since: it does not come back.
      if (kept === undefined && wereKept.has(id)) drop(id);
      else if (mine !== undefined) {
        const next = { ...(kept === undefined ? mine : together(kept, mine, here)), ...changed };
        // At once, so that no piece of an answer that comes during the writing is written over.
        put(next);
        wereKept.add(id);
        await store.put(next);
      }
      await done;
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

/** A conversation as the tabs have kept it, with the turns that this one receives and has replaced. */
function together(kept: Conversation, mine: Conversation | undefined, here: Here): Conversation {
  const replaced = [...new Set([...(kept.replaced ?? []), ...(mine?.replaced ?? [])])];
  const isThere = ({ id }: Turn): boolean => !replaced.includes(id);
  const own = (mine?.turns ?? []).filter((turn) => here.isReceived(turn.id) && isThere(turn));
  const turns = kept.turns.filter(isThere).map((turn) => own.find(({ id }) => id === turn.id) ?? turn);
  const missing = own.filter(({ id }) => !turns.some((turn) => turn.id === id));
  const updatedAt = [kept.updatedAt, mine?.updatedAt ?? ""].toSorted().at(-1)!;
  return {
    ...kept,
    updatedAt,
    turns: [...turns, ...missing],
    ...(replaced.length === 0 ? {} : { replaced }),
  };
}
