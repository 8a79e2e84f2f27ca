/** Changes the configuration of an agent. */
import { type AgentRecord, updateAgent as writeAgent } from "../../db/agents/records.ts";
import { inTenant } from "../../db/pool.ts";
import type { AgentChanges } from "../../domain/tenancy/agent-values.ts";
import type { Caller, CommandDeps } from "../caller.ts";
import { type IfUnchanged, requireUnchanged } from "../etag.ts";
import { recordChange } from "../record-change.ts";
import { agentEtag, lockWritableAgent, readChangedAgent, requireFolders } from "./agent.ts";

interface AgentUpdate extends IfUnchanged {
  readonly change: AgentChanges;
}

/**
 * Each change raises the last part of the agent's `version`; a change to the values that it has already
 * writes nothing.
 * @throws DomainError `permission_denied`, `precondition_failed`; `not_found` for an agent or a folder that
 * the caller does not reach; `bad_request` if the space has an agent of that name.
 */
export async function updateAgent(
  deps: Pick<CommandDeps, "db">,
  caller: Caller,
  { id, ifMatch, change }: AgentUpdate,
): Promise<AgentRecord> {
  const { principal } = caller;
  return inTenant(deps.db, principal.organization, async (sql) => {
    const before = await lockWritableAgent(sql, principal, id);
    requireUnchanged(ifMatch, agentEtag(before));
    await requireFolders(sql, principal, change.allowed_folder_ids);
    const isChanged = await writeAgent(sql, before.id, principal.user.id, change);
    if (!isChanged) return before;
    await recordChange(sql, caller, "agents:update", {
      type: "agent",
      id: before.id,
      spaceId: before.space_id,
      events: [{ type: "agent.updated" }],
    });
    return readChangedAgent(sql, principal, before.id);
  });
}
