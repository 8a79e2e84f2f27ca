/** The service's rights in a space, gathered to what a person does with them. */

const GROUPS = ["read", "search", "chat", "write", "agents", "manage", "webhooks"] as const;
export type Group = (typeof GROUPS)[number];

/** One right of each group, which the service gives with the others of it. */
const RIGHT_OF: Readonly<Record<Group, string>> = {
  read: "documents:read",
  search: "documents:search",
  chat: "agents:chat",
  write: "documents:create",
  agents: "agents:write",
  manage: "spaces:manage",
  webhooks: "webhooks:manage",
};

export const groupsOf = (can: readonly string[]): readonly Group[] =>
  GROUPS.filter((group) => can.includes(RIGHT_OF[group]));
