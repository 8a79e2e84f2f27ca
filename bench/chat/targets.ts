/** The requests that the chat bench compares: one chat to the service, the provider and LiteLLM. */
import { AGENTS, KEYS } from "../../test/support/tenants/tenants.ts";
import type { Bench, Name } from "./cell.ts";
import type { Target } from "./load.ts";

const MODELS: Record<string, string> = { plain: AGENTS.public, rag: AGENTS.analyst, tool: AGENTS.librarian };

/** LiteLLM is compared for plain agents only: it has no agents that search or have a tool. */
export function targetsOf(
  agent: string,
  { providerUrl, stack, litellm }: Pick<Bench, "providerUrl" | "stack" | "litellm">,
): Map<Name, Target> {
  const messages = [{ role: "user", content: "How did revenue develop over the last year?" }];
  const body = (model: string): string => JSON.stringify({ model, messages, stream: true });
  const targets = new Map<Name, Target>([
    [
      "holdfast",
      {
        url: `${stack.url}/v1/chat/completions`,
        headers: { authorization: `Bearer ${KEYS.owner}` },
        body: body(MODELS[agent] ?? agent),
      },
    ],
    [
      "direct",
      {
        url: `${providerUrl}/chat/completions`,
        headers: { authorization: "Bearer sk-scripted" },
        body: body("scripted-chat"),
        calls: agent === "tool" ? 2 : 1,
      },
    ],
  ]);
  if (litellm !== undefined && agent === "plain")
    targets.set("litellm", {
      url: `${litellm.url}/v1/chat/completions`,
      headers: { authorization: `Bearer ${litellm.key}` },
      body: body("bench"),
    });
  return targets;
}
