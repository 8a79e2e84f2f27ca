/** The tool that asks an agent: a chat turn with its citations. */
import { authorize, decide } from "../../../auth/policy.ts";
import { AskAgentInput, AskAgentOutput } from "../../../schema/mcp/tools.ts";
import { wholeAnswer } from "../../openai/completions/whole.ts";
import type { AnswerSink } from "../../turns/turn.ts";
import { audited, type McpCall } from "../call.ts";
import { unknownAgent } from "./list-agents.ts";
import { defineTool } from "./tool.ts";

/** Clients are told so often at most that an answer grows. */
const TELL_EVERY_MS = 250;

export const askAgentTool = defineTool({
  name: "ask_agent",
  title: "Ask an agent",
  description:
    "Asks an agent of this service a question. It searches the documents that both it and the caller may " +
    "read, and answers with citations. list_agents has the ids. Each call stands alone: the agent remembers " +
    "nothing.",
  capability: "chat",
  // Its tools may reach out, and it costs tokens. An agent's own `mcp` tool offers only what reads, so that
  // no agent asks itself by way of this service unless an operator lists the tool.
  hints: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: true },
  isLong: true,
  input: AskAgentInput,
  output: AskAgentOutput,
  async run(call, { agent_id: id, question }) {
    const { deps, principal, request } = call;
    await request.countTurn();
    return audited(call, { action: "agents:chat", resource: "agent", id }, async () => {
      const agent = await deps.chat.findAgent(principal.organization, id);
      if (decide(principal, "agents:chat", agent) === "not_found") throw unknownAgent();
      authorize(principal, "agents:chat", agent);
      const answer = await wholeAnswer(
        async (sink) => {
          const turn = await deps.chat.begin(
            { principal, agent, messages: [{ role: "user", content: question }], options: {} },
            telling(call, sink),
          );
          if (call.signal.aborted) turn.abort();
          call.signal.addEventListener("abort", () => turn.abort(), { once: true });
          return turn;
        },
        {
          head: { created: Math.floor(Date.now() / 1_000), model: id },
          showCitations: true,
          publicUrl: deps.config.api.publicUrl,
        },
      );
      const [choice] = answer.choices;
      return {
        answer: choice!.message.content,
        finish_reason: choice!.finish_reason,
        citations: answer.citations ?? [],
        usage: answer.usage,
      };
    });
  },
});

/** Tells the client of tools and of the length of the answer, never of its text. */
function telling(call: McpCall, sink: AnswerSink): AnswerSink {
  let step = 0;
  let characters = 0;
  let toldAt = 0;
  const tell = (message: string): void => {
    step += 1;
    toldAt = performance.now();
    call.progress({ progress: step, message });
  };
  return {
    isCommitted: false,
    begun: () => {
      if (step === 0) tell("the model answers");
    },
    shown: call.shown,
    tools(progress) {
      for (const { name, status } of progress) tell(`${name}: ${status}`);
    },
    content(text) {
      characters += text.length;
      if (performance.now() - toldAt > TELL_EVERY_MS) tell(`${characters} characters`);
      return sink.content(text);
    },
  };
}
