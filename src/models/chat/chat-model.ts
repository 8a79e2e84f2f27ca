/** Makes the chat model that a configuration asks for; the entry of this folder. */
import type { ModelsConfig } from "../config.ts";
import { observedChat } from "../observed.ts";
import { withFallbacks } from "./fallbacks.ts";
import type { TermReader } from "./extract-sentences.ts";
import { createLocalExtractive } from "./local-extractive.ts";
import { createOpenAiChat } from "./openai.ts";
import type { ChatModel } from "./types.ts";

export type * from "./types.ts";

/**
 * The provider's model with its fallbacks if `chatModel` is set; otherwise a local model that only quotes the
 * sources it is given. Asks no provider.
 *
 * @example `test/models/chat/openai.test.ts` and `test/models/chat/local-extractive.test.ts`
 */
export async function createChatModel(config: ModelsConfig, reader: TermReader): Promise<ChatModel> {
  if (config.chatModel === undefined) return createLocalExtractive(reader);
  const observed = async (provider: ModelsConfig, model: string): Promise<ChatModel> =>
    observedChat(await createOpenAiChat(provider, model));
  const others = (config.chatFallbacks ?? []).map((fallback) => observed(fallback, fallback.model));
  return withFallbacks(await observed(config, config.chatModel), await Promise.all(others));
}
