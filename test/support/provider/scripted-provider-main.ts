/**
 * Runs the scripted provider as a process of its own.
 *
 * @example `node test/support/provider/scripted-provider-main.ts --port 9101 --first-token-ms 200`
 */
import { parseArgs } from "node:util";
import { startScriptedProvider } from "./scripted-provider.ts";

const { values } = parseArgs({
  options: {
    port: { type: "string", default: "0" },
    dimensions: { type: "string", default: "384" },
    "first-token-ms": { type: "string", default: "0" },
    "embedding-ms": { type: "string", default: "0" },
    /** Pieces of every answer; without it the answer is an echo of the question. */
    pieces: { type: "string" },
    /** A tool that is called, without arguments, if it is offered and the last message is the user's. */
    tool: { type: "string" },
  },
});
const provider = await startScriptedProvider({
  port: Number(values.port),
  dimensions: Number(values.dimensions),
  firstTokenMs: Number(values["first-token-ms"]),
  embeddingMs: Number(values["embedding-ms"]),
  keepRequests: 0,
});
const { tool, pieces } = values;
if (tool !== undefined || pieces !== undefined) {
  const answer = { pieces: Array.from({ length: Number(pieces ?? 4) }, (_, index) => ` word${index}`) };
  provider.replyAlways(({ tools, messages }) => {
    const isOffered = Array.isArray(tools) && tools.some(({ function: { name } }: any) => name === tool);
    return isOffered && messages.at(-1).role === "user"
      ? { toolCalls: [{ id: "a", name: tool!, arguments: "{}" }] }
      : answer;
  });
}
process.stdout.write(`${provider.url}\n`);
const stop = async (): Promise<void> => {
  await provider.close();
  process.exit(0);
};
process.once("SIGTERM", () => void stop()).once("SIGINT", () => void stop());
