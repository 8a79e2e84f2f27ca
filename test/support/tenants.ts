/** The organizations, people, spaces, agents and keys that tests find in every stack. */
import { writeFile } from "node:fs/promises";

const id = (tail: number): string => `01900000-0000-7000-8000-${tail.toString().padStart(12, "0")}`;

export const ACME = id(1);
export const RIVAL = id(2);
export const SPACES = { research: id(10), archive: id(11), rival: id(12) };
export const AGENTS = { analyst: id(20), librarian: id(21), rival: id(22), public: id(23) };

const key = (name: string): string => `sk-test-${name.padEnd(40, "0")}`;

/** `owner`, `editor` and `viewer` of the space Research; `scoped` is the owner's, narrowed to Archive; `rival` is another organization's. */
export const KEYS = { owner: key("owner"), editor: key("editor"), viewer: key("viewer"), scoped: key("scoped"), rival: key("rival") };

const agent = (name: string, agentId: string, rest: Record<string, unknown> = {}): Record<string, unknown> => ({
  name,
  id: agentId,
  description: "Answers from the documents of this space.",
  agent_type: "simple",
  model: "default",
  system_prompt: "Answer from the documents.",
  show_citations: true,
  data_access_mode: "origin",
  ...rest,
});

const TENANTS = {
  organizations: [
    {
      name: "Acme",
      id: ACME,
      users: [
        {
          email: "ada@acme.example",
          name: "Ada Owner",
          role: "admin",
          subject: "ada",
          api_keys: [
            { name: "owner", key: KEYS.owner, spaces: "all" },
            { name: "scoped", key: KEYS.scoped, spaces: ["Archive"] },
          ],
        },
        { email: "eve@acme.example", name: "Eve Editor", role: "member", subject: "eve", api_keys: [{ name: "editor", key: KEYS.editor, spaces: "all" }] },
        { email: "vic@acme.example", name: "Vic Viewer", role: "member", subject: "vic", api_keys: [{ name: "viewer", key: KEYS.viewer, spaces: "all" }] },
      ],
      spaces: [
        {
          name: "Research",
          id: SPACES.research,
          members: { "ada@acme.example": "owner", "eve@acme.example": "editor", "vic@acme.example": "viewer" },
          agents: [
            agent("Analyst", AGENTS.analyst, { agent_type: "rag" }),
            agent("Librarian", AGENTS.librarian, {
              tool_attachments: ["knowledge_search", "read_document", "list_documents", "current_time"].map((tool_id) => ({ tool_id, config: null })),
            }),
          ],
        },
        {
          name: "Archive",
          id: SPACES.archive,
          members: { "ada@acme.example": "owner" },
          agents: [agent("Public", AGENTS.public, { is_public: true, data_access_mode: "caller" })],
        },
      ],
    },
    {
      name: "Rival",
      id: RIVAL,
      users: [{ email: "rob@rival.example", name: "Rob Rival", role: "admin", subject: "rob", api_keys: [{ name: "rival", key: KEYS.rival, spaces: "all" }] }],
      spaces: [{ name: "Rivalry", id: SPACES.rival, members: { "rob@rival.example": "owner" }, agents: [agent("Spy", AGENTS.rival)] }],
    },
  ],
};

/** Writes the tenants as a provisioning file (JSON is YAML). */
export async function writeTenants(path: string): Promise<void> {
  await writeFile(path, JSON.stringify(TENANTS));
}
