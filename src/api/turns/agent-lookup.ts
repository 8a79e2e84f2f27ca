/**
 * Looks up the agent of a turn, and keeps it for a moment, so that a busy agent does not cost a query a turn.
 * An agent that is changed or deleted is dropped at once, in this process by the request that did it, in the
 * others when they hear of it.
 */
import { createLookupCache } from "../../process/concurrency/lookup-cache.ts";
import { type Agent, findAgent } from "../../db/turns/agents-in-chat.ts";
import { type Database, inTenant, type OrganizationRef } from "../../db/pool.ts";

/** How long turns may miss a change that the process did not hear of, as behind a pool that breaks LISTEN. */
const KEPT_MS = 1_000;
const AGENTS_MAX = 10_000;

/** Resolves to undefined, which is never kept, if the organization has no such agent. */
export type FindAgent = (organization: OrganizationRef, id: string) => Promise<Agent | undefined>;

export interface AgentLookup {
  readonly find: FindAgent;
  /** Drops the agents with this id or of the space with it, or, without an id, all: they may have changed. */
  readonly forget: (id?: string) => void;
}

/** @param keptMs Default 1 s. */
export function createAgentLookup(db: Database, keptMs = KEPT_MS): AgentLookup {
  const cache = createLookupCache<Agent | undefined>({
    maxEntries: AGENTS_MAX,
    now: Date.now,
    maxAgeMs: (agent) => (agent === undefined ? 0 : keptMs),
  });
  return {
    find: (organization, id) =>
      cache.get(`${organization.id} ${id.slice(0, 64)}`, () =>
        inTenant(db, organization, (sql) => findAgent(sql, id)),
      ),
    forget(id) {
      cache.forget((agent) => id === undefined || agent?.id === id || agent?.space_id === id);
    },
  };
}
