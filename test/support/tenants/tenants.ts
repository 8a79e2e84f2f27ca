/** Describes the organizations, people, spaces, agents and keys that tests work with. */
import { randomUUID } from "node:crypto";
import { newId } from "../../../src/domain/ids.ts";

/**
 * The provisioned people: Ada is Acme's admin and owns its spaces, Eve edits and Vic views Research, Rob is
 * Rival's admin.
 */
export const PEOPLE = ["ada", "eve", "vic", "rob"] as const;
export type Who = (typeof PEOPLE)[number];

export interface Tenants {
  /** Id of the organization that most tests use. */
  readonly acme: string;
  /** Id of another organization, which must never see anything of the first. */
  readonly rival: string;
  /** `acme.example` for the default tenants; unique for each that {@link newTenants} makes. */
  readonly domain: string;
  readonly spaces: Readonly<Record<"research" | "archive" | "rival", string>>;
  readonly agents: Readonly<Record<"analyst" | "librarian" | "rival" | "public", string>>;
  /**
   * Keys of the owner, an editor and a viewer of Research. `scoped` is the owner's, narrowed to Archive;
   * `rival` is Rob's.
   */
  readonly keys: Readonly<Record<"owner" | "editor" | "viewer" | "scoped" | "rival", string>>;
  /** Returns the person's subject in access tokens. */
  readonly subject: (who: Who) => string;
}

const fixedId = (tail: number): string => `01900000-0000-7000-8000-${tail.toString().padStart(12, "0")}`;
const key = (name: string, mark: string): string => `sk-test-${name.padEnd(40 - mark.length, "0")}${mark}`;

function tenantsOf(id: (tail: number) => string, mark: string): Tenants {
  return {
    acme: id(1),
    rival: id(2),
    domain: `acme${mark}.example`,
    spaces: { research: id(10), archive: id(11), rival: id(12) },
    agents: { analyst: id(20), librarian: id(21), rival: id(22), public: id(23) },
    keys: {
      owner: key("owner", mark),
      editor: key("editor", mark),
      viewer: key("viewer", mark),
      scoped: key("scoped", mark),
      rival: key("rival", mark),
    },
    subject: (who) => `${who}${mark}`,
  };
}

/** The tenants that every stack of a test file's own starts with. */
export const TENANTS: Tenants = tenantsOf(fixedId, "");
export const { acme: ACME, rival: RIVAL, spaces: SPACES, agents: AGENTS, keys: KEYS } = TENANTS;

/** Makes tenants with unique ids, keys and addresses. A stack knows them once they are provisioned. */
export function newTenants(): Tenants {
  return tenantsOf(() => newId(), `-${randomUUID().slice(0, 8)}`);
}

const agent = (name: string, id: string, rest: Record<string, unknown> = {}): Record<string, unknown> => ({
  name,
  id,
  description: "Answers from the documents of this space.",
  agent_type: "simple",
  model: "default",
  system_prompt: "Answer from the documents.",
  show_citations: true,
  data_access_mode: "origin",
  ...rest,
});

const TOOLS = ["knowledge_search", "read_document", "list_documents", "current_time"];

function acmeOf({ acme, domain, spaces, agents, keys, subject }: Tenants): Record<string, unknown> {
  const [ada, eve, vic] = ["ada", "eve", "vic"].map((name) => `${name}@${domain}`) as [
    string,
    string,
    string,
  ];
  return {
    name: domain === TENANTS.domain ? "Acme" : `Acme ${domain}`,
    id: acme,
    users: [
      {
        email: ada,
        name: "Ada Owner",
        role: "admin",
        subject: subject("ada"),
        api_keys: [
          { name: "owner", key: keys.owner, spaces: "all" },
          { name: "scoped", key: keys.scoped, spaces: ["Archive"] },
        ],
      },
      {
        email: eve,
        name: "Eve Editor",
        role: "member",
        subject: subject("eve"),
        api_keys: [{ name: "editor", key: keys.editor, spaces: "all" }],
      },
      {
        email: vic,
        name: "Vic Viewer",
        role: "member",
        subject: subject("vic"),
        api_keys: [{ name: "viewer", key: keys.viewer, spaces: "all" }],
      },
    ],
    spaces: [
      {
        name: "Research",
        id: spaces.research,
        members: { [ada]: "owner", [eve]: "editor", [vic]: "viewer" },
        agents: [
          agent("Analyst", agents.analyst, { agent_type: "rag" }),
          agent("Librarian", agents.librarian, {
            tool_attachments: TOOLS.map((tool_id) => ({ tool_id, config: null })),
          }),
        ],
      },
      {
        name: "Archive",
        id: spaces.archive,
        members: { [ada]: "owner" },
        agents: [agent("Public", agents.public, { is_public: true, data_access_mode: "caller" })],
      },
    ],
  };
}

function rivalOf({ rival, domain, spaces, agents, keys, subject }: Tenants): Record<string, unknown> {
  const rob = `rob@rival.${domain}`;
  return {
    name: domain === TENANTS.domain ? "Rival" : `Rival ${domain}`,
    id: rival,
    users: [
      {
        email: rob,
        name: "Rob Rival",
        role: "admin",
        subject: subject("rob"),
        api_keys: [{ name: "rival", key: keys.rival, spaces: "all" }],
      },
    ],
    spaces: [
      {
        name: "Rivalry",
        id: spaces.rival,
        members: { [rob]: "owner" },
        agents: [agent("Spy", agents.rival)],
      },
    ],
  };
}

/** Writes the tenants as a provisioning file, in JSON, which is YAML. */
export function provisionFile(tenants: Tenants): string {
  return JSON.stringify({ organizations: [acmeOf(tenants), rivalOf(tenants)] });
}
