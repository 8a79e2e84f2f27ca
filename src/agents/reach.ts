/** The only place that says which data an agent works on: what it may read, within what its caller reaches. */
import type { Agent } from "../db/turns/agents-in-chat.ts";
import type { ReachedSpace } from "../domain/tenancy/principal.ts";

export interface KnowledgeScope {
  readonly organization: { readonly id: string; readonly num: number };
  readonly spaces: readonly ReachedSpace[];
  /** Folders that narrow it, with all below them; null is no narrowing, an empty list leaves nothing. */
  readonly folderIds: readonly string[] | null;
}

/** `origin` is the agent's own space, `caller` every space that the caller reaches; each only as far as the caller reaches it. */
export function knowledgeScope(
  agent: Agent,
  organization: KnowledgeScope["organization"],
  reached: Iterable<ReachedSpace>,
): KnowledgeScope {
  const spaces = [...reached].filter(
    (space) =>
      agent.data_access_mode === "caller" ||
      (agent.data_access_mode === "origin" && space.id === agent.space_id),
  );
  return {
    organization,
    spaces: agent.allowed_folder_ids?.length === 0 ? [] : spaces,
    folderIds: agent.allowed_folder_ids,
  };
}
