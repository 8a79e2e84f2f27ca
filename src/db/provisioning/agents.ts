/** Adds and updates the agents that a provisioning file names in a space. */
import type { ProvisionAgent } from "../../domain/tenancy/provision-file.ts";
import { type Located, locate, type Run, save } from "./rows.ts";

interface NamedAgents {
  readonly agents: readonly ProvisionAgent[];
  readonly organizationId: string;
  /** The owner of the space, who counts as the one who made a new agent. */
  readonly ownerId: string;
}

export async function provisionAgents(
  run: Run,
  space: Located,
  { agents, organizationId, ownerId }: NamedAgents,
): Promise<void> {
  for (const [index, agent] of agents.entries()) {
    const located = await locate(run, "agents", {
      path: `${space.path}.agents[${index}]`,
      id: agent.id,
      name: agent.name,
      parentId: space.id,
    });
    if (located === undefined) continue;
    await saveAgent(run, located, agent, {
      organization_id: organizationId,
      space_id: space.id,
      created_by: ownerId,
      last_edited_by: ownerId,
    });
  }
}

async function saveAgent(
  run: Run,
  located: Located,
  named: ProvisionAgent,
  defaults: Readonly<Record<string, string>>,
): Promise<void> {
  const { id: _id, reasoning_config: reasoning, tool_attachments: tools, ...plain } = named;
  const fields = {
    ...plain,
    reasoning_config: reasoning && JSON.stringify(reasoning),
    tool_attachments: tools && JSON.stringify(tools),
  };
  const isChanged = await save(run, "agents", located, { fields, defaults });
  if (isChanged && !located.isNew && named.version === undefined) await raiseVersion(run, located.id);
}

/** Raises the last part of a version of three numbers; any other version stays as it is. */
async function raiseVersion(run: Run, agentId: string): Promise<void> {
  await run.sql.query(
    `update agents
     set version = split_part(version, '.', 1)
       || '.' || split_part(version, '.', 2)
       || '.' || (split_part(version, '.', 3)::int + 1)
     where id = $1
       and version ~ '^\\d+\\.\\d+\\.\\d{1,9}$'`,
    [agentId],
  );
}
