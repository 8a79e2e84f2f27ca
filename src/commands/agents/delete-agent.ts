/** Deletes an agent. Nobody finds it or chats with it afterwards. */
import { markAgentDeleted } from "../../db/agents/records.ts";
import { inTenant } from "../../db/pool.ts";
import type { Caller, CommandDeps } from "../caller.ts";
import { type IfUnchanged, requireUnchanged } from "../etag.ts";
import { recordChange } from "../record-change.ts";
import { agentEtag, lockWritableAgent } from "./agent.ts";

/** @throws DomainError `not_found`, `permission_denied`, `precondition_failed` */
export async function deleteAgent(
  deps: Pick<CommandDeps, "db">,
  caller: Caller,
  { id, ifMatch }: IfUnchanged,
): Promise<void> {
  const { principal } = caller;
  await inTenant(deps.db, principal.organization, async (sql) => {
    const agent = await lockWritableAgent(sql, principal, id);
    requireUnchanged(ifMatch, agentEtag(agent));
    await markAgentDeleted(sql, agent.id);
    await recordChange(sql, caller, "agents:delete", {
      type: "agent",
      id: agent.id,
      spaceId: agent.space_id,
      events: [{ type: "agent.deleted" }],
    });
  });
}
