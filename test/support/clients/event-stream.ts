/** Reads `GET /v1/events/stream` frame by frame. */
import { createParser, type EventSourceMessage } from "eventsource-parser";

export interface OpenStream {
  readonly response: Response;
  /** Resolves with the next frame; undefined at the end of the stream. */
  next(): Promise<EventSourceMessage | undefined>;
  close(): Promise<void>;
}

/** Opens a stream; `query` begins with `?` or is empty. */
export async function openStream(
  url: string,
  key: string,
  query = "",
  headers: Record<string, string> = {},
): Promise<OpenStream> {
  const response = await fetch(`${url}/v1/events/stream${query}`, {
    headers: { authorization: `Bearer ${key}`, ...headers },
  });
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  const frames: EventSourceMessage[] = [];
  const parser = createParser({ onEvent: (frame) => frames.push(frame) });
  return {
    response,
    async next() {
      while (frames.length === 0) {
        const { value, done } = await reader.read();
        if (done) return undefined;
        parser.feed(value);
      }
      return frames.shift();
    },
    close: () => reader.cancel(),
  };
}
