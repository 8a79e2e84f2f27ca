/**
 * Makes the tenants of the soak, each with its own key, space and agents, and with a canary that no other
 * tenant may ever see.
 */
import { randomBytes, randomUUID } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { runCli } from "../../test/support/stack/processes.ts";
import type { Stack } from "../../test/support/stack/stack.ts";

export interface Tenant {
  readonly organizationId: string;
  readonly key: string;
  readonly spaceId: string;
  readonly agents: { readonly rag: string; readonly withTools: string };
  /** A word that is in every text and question of the tenant. */
  readonly canary: string;
  /** Documents that were accepted and not deleted. */
  readonly documents: string[];
}

const CANARY = /canary-[0-9a-f]{12}/g;

/** Canaries in an answer that are not the tenant's own. */
export function foreignCanaries(answer: string, tenant: Tenant): string[] {
  return [...answer.matchAll(CANARY)].map(([canary]) => canary).filter((canary) => canary !== tenant.canary);
}

/** Provisions `count` organizations. */
export async function makeTenants(stack: Stack, count: number): Promise<Tenant[]> {
  const tenants = Array.from({ length: count }, (): Tenant => ({
    organizationId: randomUUID(),
    key: `sk-soak-${randomBytes(20).toString("hex")}`,
    spaceId: randomUUID(),
    agents: { rag: randomUUID(), withTools: randomUUID() },
    canary: `canary-${randomBytes(6).toString("hex")}`,
    documents: [],
  }));
  const path = join(stack.dataDir, "soak-tenants.yaml");
  await writeFile(path, JSON.stringify({ organizations: tenants.map(provisioned) }));
  await runCli(["provision", path], stack.env);
  return tenants;
}

function provisioned({ organizationId, key, spaceId, agents }: Tenant, index: number): unknown {
  const email = `owner@soak-${index}.example`;
  const agent = (name: string, id: string, rest: object): object => ({
    name,
    id,
    description: "Answers from the documents of this space.",
    model: "default",
    system_prompt: "Answer from the documents.",
    show_citations: true,
    data_access_mode: "origin",
    ...rest,
  });
  return {
    name: `Soak ${index}`,
    id: organizationId,
    users: [
      {
        email,
        name: `Owner ${index}`,
        role: "admin",
        subject: `soak-${index}`,
        api_keys: [{ name: "soak", key, spaces: "all" }],
      },
    ],
    spaces: [
      {
        name: "Soak",
        id: spaceId,
        members: { [email]: "owner" },
        agents: [
          agent("Reader", agents.rag, { agent_type: "rag" }),
          agent("Librarian", agents.withTools, {
            agent_type: "simple",
            tool_attachments: [{ tool_id: "knowledge_search", config: null }],
          }),
        ],
      },
    ],
  };
}
