/**
 * A conversation as it stays in the browser. The service keeps none: each question sends what was said
 * before.
 */
import type { Schemas } from "@holdfast/client";

type TurnState = "streaming" | "done" | "stopped" | "failed";

export interface Turn {
  /** The Idempotency-Key of its request too: the same turn is answered, and paid, once. */
  readonly id: string;
  readonly question: string;
  readonly askedAt: string;
  readonly state: TurnState;
  readonly text: string;
  /** Where the stream goes on after what `text` has. */
  readonly cursor: string | null;
  readonly tools: readonly Schemas["ToolProgress"][];
  readonly citations: readonly Schemas["Citation"][];
  readonly annotations: readonly Schemas["Annotation"][];
  readonly removedCitations: number;
  readonly tokens: number | null;
  /** Why it failed, for people. */
  readonly error: string | null;
}

export interface Conversation {
  readonly id: string;
  readonly agentId: string;
  readonly agentName: string;
  readonly title: string;
  readonly updatedAt: string;
  readonly turns: readonly Turn[];
  /** Turns in whose place another was asked, so that no tab brings them back. */
  readonly replaced?: readonly string[];
}

export const newTurn = (question: string): Turn => ({
  id: crypto.randomUUID(),
  question,
  askedAt: new Date().toISOString(),
  state: "streaming",
  text: "",
  cursor: null,
  tools: [],
  citations: [],
  annotations: [],
  removedCitations: 0,
  tokens: null,
  error: null,
});

const TITLE_CHARACTERS = 60;

export const titleOf = (question: string): string => {
  const [line = ""] = question.trim().split("\n");
  return line.length > TITLE_CHARACTERS ? `${line.slice(0, TITLE_CHARACTERS - 1)}…` : line;
};

/** What the turn `index` sends: all that was said before it, and its question. */
export function messagesFor(turns: readonly Turn[], index: number): Schemas["ChatMessage"][] {
  const before = turns.slice(0, index).flatMap((turn): Schemas["ChatMessage"][] => [
    { role: "user", content: turn.question },
    // A turn without an answer would leave two questions in a row, which models take well.
    ...(turn.text === "" ? [] : [{ role: "assistant" as const, content: turn.text }]),
  ]);
  return [...before, { role: "user", content: turns[index]!.question }];
}

/** As a document that anybody can read. */
export function asMarkdown({ title, agentName, turns }: Conversation): string {
  const parts = turns.map(({ question, text, citations }) => {
    const sources = citations.map(
      ({ index, document_name: name, page, quote }) =>
        `[${index}] ${name}${page === null ? "" : `, p. ${page}`}${quote === undefined ? "" : `: “${quote}”`}`,
    );
    return [`**${question}**`, text, ...sources].join("\n\n");
  });
  return [`# ${title}`, agentName, ...parts].join("\n\n");
}
