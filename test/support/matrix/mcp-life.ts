/** Uses `/mcp` as its clients do, so that each of its statements runs and finds something. */
import { call, ended, upload } from "../clients/client.ts";
import { beginMcp, postMcp } from "../clients/mcp-client.ts";
import type { Stack } from "../stack/stack.ts";
import { AGENTS, KEYS, SPACES } from "../tenants/tenants.ts";

const VERSION = { "mcp-protocol-version": "2025-11-25" };

export async function useMcp({ url, provider }: Stack): Promise<void> {
  const { id } = await upload(url, KEYS.owner, SPACES.research, "Told of over MCP.");
  await ended(url, KEYS.owner, id);
  const sessionId = await beginMcp(url, KEYS.owner);
  const uri = `holdfast://spaces/${SPACES.research}/documents/${id}`;
  const ask = (method: string, params: unknown) =>
    postMcp(url, KEYS.owner, { jsonrpc: "2.0", id: method, method, params }, { sessionId, headers: VERSION });
  await ask("resources/subscribe", { uri });
  const stream = await postMcp(url, KEYS.owner, undefined, { sessionId, method: "GET" });
  await call(url, KEYS.owner, "POST", `/data/${id}/reprocess`);
  await readUntil(stream, "resources/updated");
  await ask("resources/read", { uri });
  await ask("resources/unsubscribe", { uri });
  const held = Promise.withResolvers<void>();
  provider.replyAlways({ pieces: ["It ", "is."], heldBy: held.promise });
  const answer = await ask("tools/call", {
    name: "ask_agent",
    arguments: { agent_id: AGENTS.librarian, question: "What is told of?" },
    _meta: { progressToken: 1 },
  });
  const [, eventId] = /id: (\S+)/.exec(await readUntil(answer, "id: "))!;
  await postMcp(
    url,
    KEYS.owner,
    { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: "tools/call" } },
    { sessionId },
  );
  held.resolve();
  provider.replyAlways();
  const headers = { ...VERSION, "last-event-id": eventId! };
  await (await postMcp(url, KEYS.owner, undefined, { sessionId, method: "GET", headers })).text();
  await postMcp(url, KEYS.owner, undefined, { sessionId, method: "DELETE" });
}

/** Reads a stream until it has said that, and leaves it. */
async function readUntil(response: Response, said: string): Promise<string> {
  const reader = response.body!.getReader();
  let text = "";
  while (!text.includes(said)) text += new TextDecoder().decode((await reader.read()).value);
  await reader.cancel();
  return text;
}
