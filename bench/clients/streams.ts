/** Times to the first token of a streamed answer: of chat, of a response, and of the provider itself. */
import { Agent, request } from "node:http";
import type { Bench } from "./start.ts";
import type { Way } from "./measure.ts";

interface Stream {
  readonly url: string;
  readonly key: string;
  readonly body: unknown;
  /** What the first event with text has in it. */
  readonly first: RegExp;
  /** What the last event has in it. */
  readonly last: string;
}

const connections = new Agent({ keepAlive: true, maxSockets: 1 });

export function closeConnections(): void {
  connections.destroy();
}

/** Asks for one stream, to its end. @returns the time to its first token. */
function firstToken({ url, key, body, first, last }: Stream): Promise<number> {
  return new Promise((resolve, reject) => {
    const startedAt = performance.now();
    let firstMs: number | undefined;
    let text = "";
    const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
    const made = request(url, { method: "POST", agent: connections, headers }, (response) => {
      response.setEncoding("utf8");
      response.on("data", (piece: string) => {
        text += piece;
        if (firstMs === undefined && first.test(text)) firstMs = performance.now() - startedAt;
      });
      response.on("end", () => {
        if (response.statusCode === 200 && firstMs !== undefined && text.includes(last)) resolve(firstMs);
        else reject(new Error(`answered ${response.statusCode}: ${text.slice(-400)}`));
      });
      response.on("error", reject);
    });
    made.on("error", reject);
    made.end(JSON.stringify(body));
  });
}

const QUESTION = "How did revenue develop over the last year?";
const CHAT = { first: /"content":"[^"]/, last: "[DONE]" };
const RESPONSE = { first: /"type":"response\.output_text\.delta"/, last: '"type":"response.completed"' };

export function streamWays({ stack, providerUrl, agent, key }: Bench) {
  const messages = [{ role: "user", content: QUESTION }];
  const way =
    (stream: Stream): Way =>
    () =>
      firstToken(stream);
  const url = `${stack.url}/v1`;
  return {
    provider: way({
      url: `${providerUrl}/chat/completions`,
      key: "sk-scripted",
      body: { model: "scripted-chat", messages, stream: true },
      ...CHAT,
    }),
    chat: way({
      url: `${url}/chat/completions`,
      key,
      body: { model: agent, messages, stream: true },
      ...CHAT,
    }),
    response: way({
      url: `${url}/responses`,
      key,
      body: { model: agent, input: QUESTION, stream: true },
      ...RESPONSE,
    }),
    "response that is not kept": way({
      url: `${url}/responses`,
      key,
      body: { model: agent, input: QUESTION, stream: true, store: false },
      ...RESPONSE,
    }),
  };
}
