/** The workflow that keeps the books of a group of plain turns: one for all that were opened while the last start was under way. */
import type { AdoptedTurns } from "../activities/chat.ts";
import { apiProcess } from "./chat-proxies.ts";

export interface ChatTurnsInput {
  /** The queue of the API process that holds the turns. */
  readonly apiQueue: string;
  readonly turnIds: readonly string[];
}

/** Ends when every turn of the group has ended, or has gone on in a `chat-turn` of its own. */
export async function chatTurns(input: ChatTurnsInput): Promise<AdoptedTurns> {
  return apiProcess(input.apiQueue).adoptTurns(input.turnIds);
}
