/** A scripted model that behaves as one would that follows what the programs of this folder ask. */
import type { ChatReply, Json } from "../../provider/script.ts";

/** Its quote stands in the document that the programs upload. */
export const FOX_ANSWER = "“The fox digs her den under the roots of an old oak.” [1]";
export const ANIMAL = { name: "fox", legs: 4 };

const textOf = (content: unknown): string =>
  typeof content === "string"
    ? content
    : ((content ?? []) as Json[]).map((part) => (part["type"] === "text" ? part["text"] : "")).join(" ");

/** In two words a piece, so that a stream has several. */
const pieces = (text: string): string[] => text.match(/\S+\s*\S*\s*/g) ?? [text];

const callOf = (name: string, values: unknown): ChatReply => ({
  toolCalls: [{ name, arguments: JSON.stringify(values) }],
});

/** The function among the tools whose name fits; undefined if there is none. */
function toolOf(body: Json, name: RegExp): string | undefined {
  const names = ((body["tools"] ?? []) as Json[]).map((tool) => String(tool["function"]?.name));
  return names.find((one) => name.test(one));
}

function faultFor(asked: string): ChatReply | undefined {
  // Longer than a turn may wait.
  if (/^rate limit/i.test(asked)) return { status: 429, headers: { "retry-after": "3600" } };
  if (/^refuse/i.test(asked)) return { status: 400 };
  if (/^break off/i.test(asked)) return { pieces: ["Half", " of", " it"], breakWith: "error", after: 2 };
  if (/^count very slowly/i.test(asked))
    return { pieces: Array.from({ length: 600 }, (_, at) => `${at} `), delayMsBetweenPieces: 100 };
  if (/^count slowly/i.test(asked))
    return { pieces: Array.from({ length: 20 }, (_, at) => `${at} `), delayMsBetweenPieces: 50 };
  return undefined;
}

/**
 * Asks for the weather by a function, and for foxes by the search if it is a tool; says what a tool returned;
 * answers in JSON where the request has a schema; else repeats what it was told.
 */
export function scriptedModel(body: Json): ChatReply {
  const messages = body["messages"] as Json[];
  const last = messages.at(-1)!;
  const asked = textOf(messages.findLast(({ role }) => role === "user")?.["content"]).trim();
  const fault = faultFor(asked);
  if (fault !== undefined) return fault;
  const isAboutFoxes = /\bfox\b/i.test(asked);
  if (last["role"] === "tool")
    return {
      pieces: pieces(isAboutFoxes ? FOX_ANSWER : `The tool says: ${textOf(last["content"]).slice(0, 80)}`),
    };
  const weather = toolOf(body, /weather/);
  if (weather !== undefined && /weather/i.test(asked)) return callOf(weather, { city: "Paris" });
  const search = toolOf(body, /search/);
  if (isAboutFoxes && search !== undefined) return callOf(search, { query: asked, queries: [asked] });
  if (isAboutFoxes) return { pieces: pieces(FOX_ANSWER) };
  if (body["response_format"]?.type === "json_schema") return { pieces: pieces(JSON.stringify(ANIMAL)) };
  return { pieces: pieces(`You said: ${asked.split(/\s+/).slice(-4).join(" ")}`) };
}
