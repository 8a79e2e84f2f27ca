/** Puts a model's tool calls together from the pieces in which they are streamed. */
import type { ToolCall } from "./types.ts";
import { providerGarbage } from "../provider/error.ts";

/** A piece of a call as providers stream it; some leave out the index, others the id. */
export interface ToolCallDelta {
  readonly index?: number | null;
  readonly id?: string | null;
  readonly function?: { readonly name?: string | null; readonly arguments?: string | null } | null;
}

interface Draft {
  id: string;
  name: string;
  arguments: string;
}

const MAX_CALLS = 128;
/** Names and arguments of all calls of one answer, so that a provider cannot fill the memory. */
const MAX_CHARACTERS = 1_048_576;
/** Characters of a name or id. */
const MAX_NAME = 512;

/** What a provider sends may be no string; without a length it would pass every bound. */
function stringOrEmpty(value: unknown): string {
  return typeof value === "string" ? value : "";
}

export interface ToolCallCollector {
  readonly isEmpty: boolean;
  /** @throws DomainError `provider_unavailable` if there are too many calls or characters. */
  add(delta: ToolCallDelta): void;
  /** All calls, by index. @throws DomainError `provider_unavailable` if one has no name or a too long one. */
  finish(): ToolCall[];
}

export function collectToolCalls(): ToolCallCollector {
  const drafts = new Map<number, Draft>();
  let characters = 0;
  let current = -1;

  const indexOf = ({ index, id }: ToolCallDelta): number => {
    if (typeof index === "number") return index;
    const isNew = current < 0 || (typeof id === "string" && id !== "" && id !== drafts.get(current)?.id);
    return isNew ? drafts.size : current;
  };
  return {
    get isEmpty() {
      return drafts.size === 0;
    },
    add(delta) {
      current = indexOf(delta);
      const draft = drafts.get(current) ?? { id: "", name: "", arguments: "" };
      drafts.set(current, draft);
      const name = stringOrEmpty(delta.function?.name);
      const text = stringOrEmpty(delta.function?.arguments);
      characters += name.length + text.length;
      if (drafts.size > MAX_CALLS || characters > MAX_CHARACTERS)
        throw providerGarbage("it asks for too many or too large tool calls");
      if (typeof delta.id === "string" && delta.id !== "") draft.id = delta.id;
      draft.name += name;
      draft.arguments += text;
    },
    finish() {
      return [...drafts.entries()]
        .toSorted(([left], [right]) => left - right)
        .map(([index, draft]) => {
          if (draft.name === "") throw providerGarbage("it asks for a tool without a name");
          // Names and ids go to the workflow, and back to the provider with every later call.
          if (draft.name.length > MAX_NAME || draft.id.length > MAX_NAME)
            throw providerGarbage("the name or id of a tool call is too long");
          return { ...draft, id: draft.id === "" ? `call_${index}` : draft.id };
        });
    },
  };
}
