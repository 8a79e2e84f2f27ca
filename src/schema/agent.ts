/** The contract of agents, and of the list of models that OpenAI's clients ask for. */
import { z } from "zod";
import { field } from "./field.ts";
import { TOOL_IDS } from "../domain/tool-ids.ts";
import { envelope, Name, pageQuery, Person, Timestamp } from "./fields.ts";
import { AgentId, FolderId, OrganizationId, SpaceId } from "./ids.ts";
import { type FilterFields, filtersOf, orderByOf } from "./requests/filters.ts";
import { record } from "./requests/record.ts";
import { writtenBack } from "./requests/written-back.ts";
import { checkToolConfig } from "./tool-config.ts";

const AGENT_TYPES = ["simple", "rag"] as const;
const DATA_ACCESS_MODES = ["origin", "caller", "none"] as const;
const MAX_PROMPT_CHARACTERS = 100_000;
const MAX_TOKENS = 2_000_000;
const MAX_TOOLS = 32;
const MAX_FOLDERS = 1_000;

const MAX_SETTINGS = 100;
const MAX_SETTINGS_CHARACTERS = 65_536;

const ToolAttachment = z
  .object({
    tool_id: z.string().min(1).max(100).meta({
      description: "Which tool it is; an agent may have tools that this version does not know any more",
      example: "knowledge_search",
    }),
    config: z
      .record(z.string(), z.unknown())
      .nullish()
      .meta({ description: "What narrows the tool's reach; null: nothing does", example: null }),
  })
  .meta({ id: "ToolAttachment" });

const REASONING = "What the model's provider is asked for reasoning, such as `effort`; null: its default";

const configuration = {
  description: z.string().max(4_000).meta({
    description: "What the agent is for, for people; no model reads it",
    example: "Answers from the documents of this space.",
  }),
  agent_type: z.enum(AGENT_TYPES).meta({
    description: "`simple`: a loop with tools; `rag`: searches first, answers once",
    example: "rag",
  }),
  model: z.string().min(1).max(255).meta({
    description: "Deployment name of the language model; not the `model` of a chat",
    example: "default",
  }),
  system_prompt: z.string().max(MAX_PROMPT_CHARACTERS).meta({
    description: "What the model is told before the messages of a chat",
    example: "Answer from the documents.",
  }),
  temperature: z.number().min(0).max(2).nullable().meta({
    description: "How freely the model chooses its words; null: the model's default",
    example: 0.2,
  }),
  max_tokens: z.int().min(1).max(MAX_TOKENS).nullable().meta({
    description: "The most tokens of an answer; null: the model's default",
    example: 800,
  }),
  reasoning_config: z
    .record(z.string(), z.unknown())
    .nullable()
    .meta({ description: REASONING, example: null }),
  tool_attachments: z
    .array(ToolAttachment)
    .max(MAX_TOOLS)
    .meta({
      description: "The tools that the model may call; they run inside the service",
      example: [{ tool_id: "knowledge_search", config: null }],
    }),
  is_public: field.flag("Everyone in the organization may use it, still with their own reach", false),
  show_citations: field.flag(
    "Whether answers list the passages that they cite, as `citations` and `annotations`",
    true,
  ),
  require_support: field.flag(
    "Whether marks are taken out of answers whose source does not have the words and numbers of the " +
      "statement before them; the answer says how many, as `removed_citations`. Takes effect with `show_citations`",
    false,
  ),
  save_to_inbox: field.flag("Stored with the agent, and shown again; the service has no inbox", false),
  data_access_mode: z.enum(DATA_ACCESS_MODES).meta({
    description:
      "What the agent searches, never more than the caller reaches. `origin`: the agent's space; " +
      "`caller`: every space that the caller reaches; `none`: no documents",
    example: "origin",
  }),
  allowed_folder_ids: z
    .array(FolderId)
    .max(MAX_FOLDERS)
    .nullable()
    .meta({
      description:
        "The folders that it searches, with all folders below; null: all of what `data_access_mode` " +
        "lets it search; an empty list: nothing",
      example: null,
    }),
};

/** Settings of any form in a request, bounded in size. */
const settings = record(z.unknown(), MAX_SETTINGS).refine(
  (given) => JSON.stringify(given).length <= MAX_SETTINGS_CHARACTERS,
  `must have at most ${MAX_SETTINGS_CHARACTERS} characters as JSON`,
);

/** For requests only: answers also show tools that this version does not know any more. */
const AttachedTool = z
  .strictObject({
    tool_id: z.enum(TOOL_IDS).meta({
      description: "Which tool the model may call",
      example: "knowledge_search",
    }),
    config: settings.nullish().meta({
      description: "Narrows what the tool reaches: `hosts` of `http_fetch`; `server` and `tools` of `mcp`",
      example: null,
    }),
  })
  .superRefine(checkToolConfig)
  .meta({ id: "AttachedTool" });
const writable = {
  ...configuration,
  model: z
    .string()
    .max(255)
    .regex(/^[!-~]+$/)
    .meta({
      description:
        "Deployment name of the language model: visible characters, no spaces; " +
        "`default` is the configured one",
      example: "default",
    }),
  tool_attachments: z
    .array(AttachedTool)
    .max(MAX_TOOLS)
    .meta({
      description: "Tools run inside the service",
      example: [{ tool_id: "knowledge_search", config: null }],
    }),
  reasoning_config: settings.nullable().meta({
    description: `${REASONING}. At most ${MAX_SETTINGS_CHARACTERS} characters as JSON`,
    example: null,
  }),
};

const Agent = z
  .object({
    id: AgentId,
    name: field.text("The display name", "Analyst"),
    version: field.text("Three numbers; the last one grows with each change of the configuration", "1.0.0"),
    ...configuration,
    organization_id: OrganizationId,
    space_id: SpaceId.describe("The space that it belongs to; its editors change it"),
    from_system: field.flag("True for an agent of the service itself, which is not among the models", false),
    conversation_count: field.integer(
      "Chats that were begun with it: turns whose history has no answer yet",
      0,
    ),
    created_at: Timestamp,
    updated_at: Timestamp,
    created_by: Person.describe("Who made it"),
  })
  .meta({ id: "Agent" });

export const AgentDetails = Agent.extend({
  last_edited_by: Person.describe("Who changed it last; its maker if nobody has"),
}).meta({ id: "AgentDetails" });
export const AgentPage = envelope(Agent, "AgentPage");

const NewAgent = z
  .strictObject({
    name: Name,
    space_id: SpaceId.describe("The space that it will belong to; the caller must be an editor of it"),
    description: writable.description.default(""),
    agent_type: writable.agent_type.default("simple"),
    model: writable.model.default("default"),
    system_prompt: writable.system_prompt.default(""),
    temperature: writable.temperature.default(null),
    max_tokens: writable.max_tokens.default(null),
    reasoning_config: writable.reasoning_config.default(null),
    tool_attachments: writable.tool_attachments.default([]),
    is_public: writable.is_public.default(false),
    show_citations: writable.show_citations.default(true),
    require_support: writable.require_support.default(false),
    save_to_inbox: writable.save_to_inbox.default(false),
    data_access_mode: writable.data_access_mode.default("origin"),
    allowed_folder_ids: writable.allowed_folder_ids.default(null),
  })
  .meta({
    id: "AgentCreate",
    example: {
      name: "Analyst",
      space_id: "01900000-0000-7000-8000-000000000010",
      agent_type: "rag",
      system_prompt: "Answer from the documents.",
    },
  });

export const AgentCreate = writtenBack(AgentDetails, NewAgent);

export const AgentPatch = writtenBack(
  AgentDetails,
  z
    .strictObject({ name: Name, ...writable })
    .partial()
    .meta({ id: "AgentPatch", example: { name: "Analyst", temperature: 0.2 } }),
);

const AGENT_FIELDS: FilterFields = {
  id: "uuid",
  name: "text",
  description: "text",
  version: "text",
  agent_type: "text",
  model: "text",
  is_public: "boolean",
  show_citations: "boolean",
  require_support: "boolean",
  save_to_inbox: "boolean",
  data_access_mode: "text",
  organization_id: "uuid",
  space_id: "uuid",
  conversation_count: "number",
  created_by: "uuid",
  created_at: "timestamp",
  updated_at: "timestamp",
};

export const AgentSearchQuery = pageQuery();
/** An absent body lists all agents that the caller may use. */
export const AgentSearch = z
  .strictObject({
    filters: filtersOf(AGENT_FIELDS, { name__icontains: "analyst" }),
    order_by: orderByOf(AGENT_FIELDS, ["name"]),
  })
  .meta({ id: "AgentSearch" })
  .nullish()
  .transform((body) => body ?? { filters: [], order_by: [] });

/** What the OpenAI-compatible `GET /models` shows of an agent. */
export const Model = z
  .object({
    id: AgentId,
    name: field.text("The agent's display name", "Analyst"),
    object: z.literal("model").describe("As OpenAI's clients expect it"),
    created: field.integer("When the agent was made, in Unix seconds", 1_790_000_000),
    owned_by: OrganizationId.describe("The organization"),
  })
  .meta({ id: "Model" });

export const ModelList = z
  .object({
    object: z.literal("list").describe("As OpenAI's clients expect it"),
    data: z.array(Model).describe("The agents, oldest first"),
  })
  .meta({ id: "ModelList" });
