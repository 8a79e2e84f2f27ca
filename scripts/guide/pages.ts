/** Which pages the guide has, in the order of its sidebar. Each is a file below docs/. */

export interface Group {
  readonly title: string;
  readonly isCollapsed?: boolean;
  readonly sources: readonly string[];
}

/** docs/guide/index.md is the page at /docs itself. */
export const HOME = "guide/index.md";

export const GROUPS: readonly Group[] = [
  {
    title: "First day",
    sources: ["guide/quick-start.md", "guide/upload-and-wait.md", "guide/search-and-filters.md"],
  },
  {
    title: "Answers",
    sources: [
      "guide/agents-and-citations.md",
      "guide/openai-and-mcp.md",
      "guide/receipts.md",
      "guide/recipes.md",
    ],
  },
  {
    title: "Documents",
    sources: ["guide/folders-and-files.md", "guide/chunkers.md", "guide/delete-for-good.md"],
  },
  {
    title: "Access and limits",
    sources: ["guide/keys.md", "guide/limits.md", "guide/errors.md"],
  },
  { title: "In the browser", sources: ["console.md"] },
  { title: "What happened", sources: ["events.md", "webhooks.md"] },
  {
    title: "Running it",
    isCollapsed: true,
    sources: [
      "guide/running-it.md",
      "settings.md",
      "node.md",
      "deploy.md",
      "reverse-proxies.md",
      "storage.md",
      "operations.md",
      "chat.md",
      "runbook.md",
      "backup.md",
    ],
  },
];

/** `guide/quick-start.md` is `quick-start.md`, at /docs/quick-start. */
export const pageOf = (source: string): string => source.replace(/^guide\//, "");
