/** Makes the parameters of model calls from the agent's defaults and what the request overrides. */
import type { Agent } from "../db/turns/agents-in-chat.ts";
import type { ChatRequest } from "../models/chat/chat-model.ts";

/** The deployment name that stands for the configured model. */
const DEFAULT_MODEL = "default";

export interface SamplingOptions {
  readonly temperature?: number | undefined;
  readonly maxTokens?: number | undefined;
  /** Passed on to the provider as it is. */
  readonly responseFormat?: Readonly<Record<string, unknown>> | undefined;
}

/** Returns the parameters that are the same in all calls of a turn. */
export function requestDefaults(
  agent: Agent,
  options: SamplingOptions,
  configuredModel: string,
): Omit<ChatRequest, "messages" | "tools"> {
  const temperature = options.temperature ?? agent.temperature;
  const maxTokens = options.maxTokens ?? agent.max_tokens;
  return {
    model: agent.model === DEFAULT_MODEL ? configuredModel : agent.model,
    ...(temperature === null ? {} : { temperature }),
    ...(maxTokens === null ? {} : { max_tokens: maxTokens }),
    ...(options.responseFormat === undefined ? {} : { response_format: options.responseFormat }),
    ...(agent.reasoning_config === null ? {} : { reasoning: agent.reasoning_config }),
  };
}
