/** Makes an agent in a space. */
import { authorize, authorizeLogin } from "../../auth/policy.ts";
import { type AgentRecord, insertAgent } from "../../db/agents/records.ts";
import { inTenant } from "../../db/pool.ts";
import type { AgentValues } from "../../domain/tenancy/agent-values.ts";
import type { Caller, CommandDeps } from "../caller.ts";
import { recordChange } from "../record-change.ts";
import { readChangedAgent, requireFolders } from "./agent.ts";

/**
 * @throws DomainError `permission_denied`; `not_found` for a space or a folder that the caller does not
 * reach; `bad_request` if the space has an agent of that name.
 */
export async function createAgent(
  deps: Pick<CommandDeps, "db">,
  caller: Caller,
  { spaceId, values }: { readonly spaceId: string; readonly values: AgentValues },
): Promise<AgentRecord> {
  const { principal } = caller;
  authorizeLogin(principal);
  authorize(principal, "agents:create", { space_id: spaceId });
  return inTenant(deps.db, principal.organization, async (sql) => {
    await requireFolders(sql, principal, values.allowed_folder_ids);
    const id = await insertAgent(sql, principal, { ...values, space_id: spaceId });
    await recordChange(sql, caller, "agents:create", {
      type: "agent",
      id,
      spaceId,
      events: [{ type: "agent.created" }],
    });
    return readChangedAgent(sql, principal, id);
  });
}
