/** The bookkeeping workflow of plain turns: one for all that began while the one before was started. */
import type { AdoptedTurns } from "../activities/chat.ts";
import type { ChatTurnsInput } from "../domain/work/chat-workflows.ts";
import { apiProcess } from "./chat-proxies.ts";

/**
 * Completes when each turn of the group has ended or continues in a `chatTurn` of its own.
 * @see test/workflows/chat/chat-turns.stack.test.ts
 */
export async function chatTurns(input: ChatTurnsInput): Promise<AdoptedTurns> {
  return apiProcess(input.apiQueue).adoptTurns(input.turnIds);
}
