/** The tool that searches the agent's documents. */
import { z } from "zod";
import { PASSAGES_DEFAULT, PASSAGES_MAX, searchKnowledge } from "../knowledge.ts";
import { defineTool } from "./define-tool.ts";

export const knowledgeSearch = defineTool({
  name: "knowledge_search",
  description:
    "Searches the documents by meaning and by words, and returns the passages that match best, " +
    "numbered for citing.",
  args: z.object({
    query: z.string().min(1).max(8_192).describe("What to look for: a question or key words."),
    limit: z
      .number()
      .int()
      .min(1)
      .max(PASSAGES_MAX)
      .default(PASSAGES_DEFAULT)
      .describe("Most passages to return."),
  }),
  async run({ deps, scope, neighbours }, { query, limit }, signal) {
    const passages = await searchKnowledge(deps, scope, { text: query, limit, neighbours }, signal);
    return { type: "passages", passages };
  },
});
