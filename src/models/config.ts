/** Which models a configuration asks for. */

/** A provider that is asked while the first one is down. */
interface ChatFallback {
  readonly baseUrl: string;
  readonly apiKey?: string | undefined;
  readonly model: string;
}

/** An absent model means the local one, which needs no provider. */
export interface ModelsConfig {
  /** An OpenAI-compatible provider's address with its version; default `https://api.openai.com/v1`. */
  readonly baseUrl?: string | undefined;
  readonly apiKey?: string | undefined;
  readonly embeddingModel?: string | undefined;
  readonly embeddingDimensions?: number | undefined;
  readonly chatModel?: string | undefined;
  /** Asked in this order. */
  readonly chatFallbacks?: readonly ChatFallback[] | undefined;
}
