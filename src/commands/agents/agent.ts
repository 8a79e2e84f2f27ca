/** What the commands of agents share: the right to change one, its folders, and the lock on its row. */
import { authorize, authorizeLogin } from "../../auth/policy.ts";
import { type AgentRecord, findAgentRecord, reachesFolders } from "../../db/agents/records.ts";
import type { Sql } from "../../db/pool.ts";
import { notFound } from "../../domain/not-found.ts";
import type { Principal } from "../../domain/tenancy/principal.ts";
import { etagOf } from "../etag.ts";

export const agentEtag = (agent: AgentRecord): string => etagOf(agent.id, agent.version, agent.updated_at);

/** Locks the agent's row until the transaction ends. @throws DomainError `not_found`, `permission_denied` */
export async function lockWritableAgent(sql: Sql, principal: Principal, id: string): Promise<AgentRecord> {
  authorizeLogin(principal);
  const agent = await findAgentRecord(sql, principal.organization.id, id, { lock: true });
  authorize(principal, "agents:write", agent);
  return agent;
}

/**
 * Reads the agent as it is after the caller's change, in the transaction of the change.
 * @throws DomainError `not_found` if its space was deleted meanwhile; the change must not commit then.
 */
export async function readChangedAgent(sql: Sql, principal: Principal, id: string): Promise<AgentRecord> {
  const agent = await findAgentRecord(sql, principal.organization.id, id);
  authorize(principal, "agents:read", agent);
  return agent;
}

/**
 * @param ids folders that an agent is to be narrowed to; null and undefined name none.
 * @throws DomainError `not_found` if the caller does not reach one of them.
 */
export async function requireFolders(
  sql: Sql,
  principal: Principal,
  ids: readonly string[] | null | undefined,
): Promise<void> {
  if (ids === null || ids === undefined) return;
  if (!(await reachesFolders(sql, principal, ids))) throw notFound("folder");
}
