/** Waits until a stack answers chats, before programs that do not wait ask it. */
import { call } from "../client.ts";
import type { Tenants } from "../../tenants/tenants.ts";
import { until } from "../../until.ts";

export async function chatIsReady(url: string, { keys, agents }: Tenants): Promise<void> {
  const hello = { model: agents.public, messages: [{ role: "user", content: "Hello" }] };
  await until("chat is ready", async () => {
    const { status } = await call(url, keys.owner, "POST", "/chat/completions", hello);
    return status === 200;
  });
}
