/** Sends chats with an Idempotency-Key, and reads what is in their streams. */
import type { ChatHarness } from "../stack/chat-harness.ts";

interface Seen {
  /** The ids of the events. */
  readonly ids: number[];
  readonly text: string;
  /** True if the stream ended with `[DONE]`. */
  readonly isWhole: boolean;
  /** The id of the completion. */
  readonly completion: string;
}

export function readStream(text: string): Seen {
  const events = text.split("\n\n").filter((event) => event.includes("data: {"));
  const parsed = events.map((event) => ({
    id: Number(/^id: (\d+)$/m.exec(event)?.[1]),
    data: JSON.parse(/^data: (.*)$/m.exec(event)![1]!),
  }));
  return {
    ids: parsed.map(({ id }) => id),
    text: parsed.map(({ data }) => data.choices?.[0]?.delta.content ?? "").join(""),
    isWhole: text.trimEnd().endsWith("data: [DONE]"),
    completion: parsed[0]?.data.id,
  };
}

interface Sent {
  readonly headers?: Record<string, string>;
  readonly signal?: AbortSignal;
}

/** Sends a chat with the key; asks for a stream unless the body says otherwise. */
export async function askUnderKey(
  chat: ChatHarness,
  key: string,
  body: Readonly<Record<string, unknown>>,
  { headers, signal }: Sent = {},
): Promise<Response> {
  const messages = [{ role: "user", content: "Hello there" }];
  return fetch(`${chat.url}/v1/chat/completions`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${chat.key}`,
      "content-type": "application/json",
      "idempotency-key": key,
      ...headers,
    },
    body: JSON.stringify({ messages, stream: true, ...body }),
    ...(signal === undefined ? {} : { signal }),
  });
}
