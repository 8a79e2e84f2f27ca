/**
 * The conversations of this tab, and the answers that are being written, which go on while other screens are
 * shown, and after a reload.
 */
import { type AnswerPiece, type Holdfast, HoldfastError } from "@holdfast/client";
import { type Conversation, type Turn, messagesFor, newTurn, titleOf } from "./conversation.ts";
import { openChats } from "./database.ts";
import { createShelf } from "./shelf.ts";

export interface Chats {
  /** Undefined until they are read. Newest first. */
  list(): readonly Conversation[] | undefined;
  onChange(listener: () => void): () => void;
  /** @returns the id of the new conversation */
  begin(agent: { readonly id: string; readonly name: string }, question: string): string;
  ask(conversationId: string, question: string): void;
  /** Asks another question in place of the turn and all that came after it. */
  askAgain(conversationId: string, turnId: string, question: string): void;
  stop(turnId: string): void;
  rename(conversationId: string, title: string): void;
  remove(conversationId: string): void;
}

/** What is shown is kept so often, for a reload in mid-answer. */
const KEEP_MS = 400;

const opened = new WeakMap<Holdfast, Chats>();

export function chatsOf(holdfast: Holdfast, userId: string): Chats {
  const known = opened.get(holdfast);
  if (known !== undefined) return known;
  const chats = createChats(holdfast, userId);
  opened.set(holdfast, chats);
  return chats;
}

function createChats(holdfast: Holdfast, userId: string): Chats {
  const running = new Map<string, AbortController>();
  const shelf = createShelf(openChats(userId), userId, {
    isReceived: (turnId) => running.has(turnId),
    stop: (turnId) => running.get(turnId)?.abort(),
    changed: ({ id, turns }) => followStreaming(id, turns),
  });
  /** Answers that another tab receives, which this one goes on with if that one is gone. */
  const followed = new Set<string>();
  const receive = async (conversationId: string, turnId: string): Promise<void> => {
    const stop = running.get(turnId) ?? new AbortController();
    running.set(turnId, stop);
    const timer = setInterval(() => void shelf.keep(conversationId), KEEP_MS);
    try {
      const conversation = shelf.find(conversationId)!;
      const pieces = holdfast.askInPieces({ ...requestOf(conversation, turnId), signal: stop.signal });
      for await (const piece of pieces)
        shelf.changeTurn(conversationId, turnId, (turn) => withPiece(turn, piece));
      shelf.changeTurn(conversationId, turnId, (turn) => ({ ...turn, state: "done" }));
    } catch (error) {
      shelf.changeTurn(conversationId, turnId, (turn) => ended(turn, stop.signal.aborted, error));
    } finally {
      clearInterval(timer);
      // How it ended is known here alone until it is kept.
      await shelf.keep(conversationId).finally(() => running.delete(turnId));
    }
  };
  // One tab receives an answer; another goes on with it only if that one is gone.
  const run = (conversationId: string, turnId: string): Promise<void> =>
    navigator.locks.request(lockOf(turnId), () => receive(conversationId, turnId));
  const goOn = (conversationId: string, turnId: string): Promise<void> =>
    navigator.locks.request(lockOf(turnId), async () => {
      // The tab that had it may have kept how it ended.
      await shelf.refresh(conversationId);
      const turn = shelf.find(conversationId)?.turns.find(({ id }) => id === turnId);
      if (turn?.state === "streaming") await receive(conversationId, turnId);
    });
  function followStreaming(conversationId: string, turns: readonly Turn[]): void {
    for (const { id, state } of turns) {
      if (state !== "streaming" || running.has(id) || followed.has(id)) continue;
      followed.add(id);
      void goOn(conversationId, id).finally(() => followed.delete(id));
    }
  }
  const stop = (turnId: string): void => {
    const here = running.get(turnId);
    if (here === undefined) shelf.askToStop(turnId);
    else here.abort();
  };
  const addTurn = (conversation: Conversation, question: string): void => {
    const turn = newTurn(question);
    running.set(turn.id, new AbortController());
    shelf.put({ ...conversation, turns: [...conversation.turns, turn], updatedAt: turn.askedAt });
    void shelf.keep(conversation.id);
    void run(conversation.id, turn.id);
  };
  // What a reload has cut off goes on where it was.
  void shelf.isRead.then(() => {
    for (const { id, turns } of shelf.list() ?? []) followStreaming(id, turns);
  });
  return {
    list: shelf.list,
    onChange: shelf.onChange,
    begin(agent, question) {
      const id = crypto.randomUUID();
      const updatedAt = new Date().toISOString();
      const title = titleOf(question);
      addTurn({ id, agentId: agent.id, agentName: agent.name, title, updatedAt, turns: [] }, question);
      return id;
    },
    ask(conversationId, question) {
      const conversation = shelf.find(conversationId);
      if (conversation !== undefined) addTurn(conversation, question);
    },
    askAgain(conversationId, turnId, question) {
      const conversation = shelf.find(conversationId);
      if (conversation === undefined) return;
      const index = conversation.turns.findIndex(({ id }) => id === turnId);
      for (const turn of conversation.turns.slice(index)) if (turn.state === "streaming") stop(turn.id);
      const replaced = [
        ...(conversation.replaced ?? []),
        ...conversation.turns.slice(index).map(({ id }) => id),
      ];
      addTurn({ ...conversation, turns: conversation.turns.slice(0, index), replaced }, question);
    },
    stop,
    rename(conversationId, title) {
      const conversation = shelf.find(conversationId);
      if (conversation === undefined) return;
      shelf.put({ ...conversation, title });
      void shelf.keep(conversationId, { title });
    },
    remove(conversationId) {
      for (const turn of shelf.find(conversationId)?.turns ?? [])
        if (turn.state === "streaming") stop(turn.id);
      shelf.remove(conversationId);
    },
  };
}

const lockOf = (turnId: string): string => `turn ${turnId}`;

function requestOf(conversation: Conversation, turnId: string) {
  const index = conversation.turns.findIndex(({ id }) => id === turnId);
  const { cursor } = conversation.turns[index]!;
  return {
    agent: conversation.agentId,
    messages: messagesFor(conversation.turns, index),
    idempotencyKey: turnId,
    ...(cursor === null ? {} : { after: cursor }),
  };
}

function withPiece(turn: Turn, piece: AnswerPiece): Turn {
  return {
    ...turn,
    text: turn.text + piece.text,
    cursor: piece.cursor ?? turn.cursor,
    tools: piece.tools === undefined ? turn.tools : withTools(turn.tools, piece.tools),
    citations: piece.citations ?? turn.citations,
    annotations: piece.annotations ?? turn.annotations,
    removedCitations: piece.removedCitations ?? turn.removedCitations,
    tokens: piece.usage?.total_tokens ?? turn.tokens,
  };
}

/** Each call once, as it was told of last. */
function withTools(before: Turn["tools"], now: Turn["tools"]): Turn["tools"] {
  const byId = new Map(before.map((tool) => [tool.id, tool]));
  for (const tool of now) byId.set(tool.id, tool);
  return [...byId.values()];
}

function ended(turn: Turn, isStopped: boolean, error: unknown): Turn {
  if (isStopped) return { ...turn, state: "stopped" };
  const message = error instanceof HoldfastError || error instanceof Error ? error.message : String(error);
  return { ...turn, state: "failed", error: message };
}
