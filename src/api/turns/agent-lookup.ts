/**
 * Looks up the agent of a turn, and caches it for a second, so that a busy agent does not cost a query a
 * turn.
 */
import { createLookupCache } from "../../auth/lookup-cache.ts";
import { type Agent, findAgent } from "../../db/turns/agents-in-chat.ts";
import { type Database, inTenant, type OrganizationKey } from "../../db/pool.ts";

/** Turns see changes of their agent within this time. */
const KEPT_MS = 1_000;
const AGENTS_MAX = 10_000;

export type FindAgent = (organization: OrganizationKey, id: string) => Promise<Agent | undefined>;

/** Resolves to undefined, which is never cached, if the organization has no such agent. */
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
