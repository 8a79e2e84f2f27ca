/** The tools that an agent may be given. */
export const TOOL_IDS = [
  "knowledge_search",
  "read_document",
  "list_documents",
  "current_time",
  "calculator",
  "http_fetch",
  "mcp",
] as const;
