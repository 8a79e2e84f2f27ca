/** Decides what an agent may read: its own scope, within the reach of its caller. */
import type { Agent } from "../db/turns/agents-in-chat.ts";
import type { ReachedSpace } from "../domain/tenancy/principal.ts";

export interface KnowledgeScope {
  readonly organization: { readonly id: string; readonly num: number };
  readonly spaces: readonly ReachedSpace[];
  /** Only these folders and those inside them; null: no restriction; an empty list: nothing. */
  readonly folderIds: readonly string[] | null;
}

/**
 * With the access mode `origin` an agent reads its own space, with `caller` every space of the caller; in
 * both cases only what the caller may reach.
 */
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
