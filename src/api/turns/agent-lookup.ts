/** The only place where chat looks an agent up: kept for a second, so that a busy agent costs no query a turn. */
import { createLookupCache } from "../../auth/lookup-cache.ts";
import { type Agent, findAgent } from "../../db/turns/agents-in-chat.ts";
import { type Database, inTenant, type OrganizationKey } from "../../db/pool.ts";

/** Changes of an agent are seen by its chats within this time. */
const KEPT_MS = 1_000;
const AGENTS_MAX = 10_000;

export type FindAgent = (organization: OrganizationKey, id: string) => Promise<Agent | undefined>;

/** Undefined for an agent that does not exist in the organization, and that is never kept. */
export function createAgentLookup(db: Database): FindAgent {
  const cache = createLookupCache<Agent | undefined>({
    maxEntries: AGENTS_MAX,
    now: Date.now,
    maxAgeMs: (agent) => (agent === undefined ? 0 : KEPT_MS),
  });
  return (organization, id) =>
    cache.get(`${organization.id} ${id.slice(0, 64)}`, () =>
      inTenant(db, organization, (sql) => findAgent(sql, id)),
    );
}
