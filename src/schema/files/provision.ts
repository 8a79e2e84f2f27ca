/** Reads a provisioning file: its contract, and every mistake in it at once. */
import { parse, YAMLParseError } from "yaml";
import { z } from "zod";
import { CAPABILITIES } from "../../domain/tenancy/principal.ts";
import { ProvisionError } from "../../domain/tenancy/provision-error.ts";
import type { ProvisionFile } from "../../domain/tenancy/provision-file.ts";
import { TOOL_IDS } from "../../domain/tool-ids.ts";
import { Uuid } from "../fields.ts";
import { MAX_CIDRS, cidr } from "../key.ts";
import { MAX_KEY_LIFETIME_SECONDS } from "../organization.ts";
import { brokenReferences } from "./provision-references.ts";
import { checkToolConfig } from "../tool-config.ts";

const MAX_NAME = 255;
const MAX_PROMPT = 100_000;

const Name = z.string().trim().min(1, "is empty").max(MAX_NAME, `is longer than ${MAX_NAME} characters`);
const Email = z.email("is not an e-mail address").max(MAX_NAME).toLowerCase();
const oneOf = <const T extends readonly string[]>(values: T) =>
  z.enum(values, `must be one of: ${values.join(", ")}`);

const Cidr = cidr("is not an IPv4 or IPv6 network, or has bits behind its prefix");

const ApiKey = z.strictObject({
  name: Name,
  key: z.string().optional(),
  spaces: z.union([z.literal("all"), z.array(Name)], "must be all or a list of names of spaces").optional(),
  capabilities: z.array(oneOf(CAPABILITIES)).min(1, "is empty").optional(),
  expires_at: z.iso.datetime({ offset: true, error: "is not an ISO 8601 timestamp" }).nullable().optional(),
  allowed_cidrs: z
    .array(Cidr)
    .min(1, "is empty")
    .max(MAX_CIDRS, `has more than ${MAX_CIDRS} networks`)
    .nullable()
    .optional(),
});

const User = z.strictObject({
  email: Email,
  id: Uuid.optional(),
  name: Name.optional(),
  avatar_url: z.url("is not a URL").nullable().optional(),
  role: oneOf(["admin", "member"]).optional(),
  subject: z.string().min(1, "is empty").max(MAX_NAME).nullable().optional(),
  api_keys: z.array(ApiKey).optional(),
});

const Agent = z.strictObject({
  name: Name,
  id: Uuid.optional(),
  description: z.string().optional(),
  agent_type: oneOf(["simple", "rag"]).optional(),
  model: Name.optional(),
  system_prompt: z.string().max(MAX_PROMPT).optional(),
  temperature: z.number().min(0, "must be 0 to 2").max(2, "must be 0 to 2").nullable().optional(),
  max_tokens: z
    .int("must be a whole number")
    .min(1, "must be at least 1")
    .max(10_000_000)
    .nullable()
    .optional(),
  reasoning_config: z.record(z.string(), z.json()).nullable().optional(),
  tool_attachments: z
    .array(
      z
        .strictObject({
          tool_id: oneOf(TOOL_IDS),
          config: z.record(z.string(), z.json()).nullable().default(null),
        })
        .superRefine(checkToolConfig),
    )
    .optional(),
  is_public: z.boolean().optional(),
  show_citations: z.boolean().optional(),
  require_support: z.boolean().optional(),
  save_to_inbox: z.boolean().optional(),
  data_access_mode: oneOf(["origin", "caller", "none"]).optional(),
  allowed_folder_ids: z.array(Uuid).nullable().optional(),
  from_system: z.boolean().optional(),
  version: z
    .string()
    .regex(/^\d+\.\d+\.\d+$/, "must look like 1.0.0")
    .optional(),
});

const Space = z.strictObject({
  name: Name,
  id: Uuid.optional(),
  members: z.record(Email, oneOf(["owner", "editor", "viewer"])).optional(),
  agents: z.array(Agent).optional(),
});

const Lifetime = z
  .int("must be a whole number")
  .min(1, "must be at least 1")
  .max(MAX_KEY_LIFETIME_SECONDS, `must be at most ${MAX_KEY_LIFETIME_SECONDS}`)
  .nullable();

const Organization = z.strictObject({
  name: Name,
  id: Uuid.optional(),
  max_key_lifetime_seconds: Lifetime.optional(),
  default_key_lifetime_seconds: Lifetime.optional(),
  users: z.array(User).optional(),
  spaces: z.array(Space).optional(),
});

const File = z.strictObject({ organizations: z.array(Organization) });

interface Surroundings {
  /** The values of `${NAME}`. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** True if the text is a well-formed API key. */
  readonly isKey: (text: string) => boolean;
}

/**
 * Reads a provisioning file.
 * @param text YAML, of which JSON is a part.
 * @throws ProvisionError with every mistake in the file, each with its path.
 */
export function parseProvisionFile(text: string, { environment, isKey }: Surroundings): ProvisionFile {
  const mistakes: string[] = [];
  const data = fillIn(parseYaml(text), [], (path, name) => {
    const value = Object.hasOwn(environment, name) ? environment[name] : undefined;
    if (value === undefined || value === "")
      mistakes.push(`${showPath(path)}: the environment variable ${name} is not set`);
    return value === "" ? undefined : value;
  });
  const parsed = File.safeParse(data);
  if (!parsed.success) mistakes.push(...parsed.error.issues.flatMap((issue) => describe(issue, data)));
  mistakes.push(...brokenReferences(data, isKey), ...unusableTexts(data, []));
  if (!parsed.success || mistakes.length > 0) throw new ProvisionError([...new Set(mistakes)]);
  return parsed.data;
}

function parseYaml(text: string): unknown {
  try {
    return parse(text) as unknown;
  } catch (error) {
    // The lines after the first show the file's text, which may hold keys.
    const reason = error instanceof Error ? error.message.split("\n", 1)[0] : "";
    throw new ProvisionError([
      error instanceof YAMLParseError ? `not YAML: ${reason}` : `cannot be read: ${reason}`,
    ]);
  }
}

type Path = readonly PropertyKey[];
type Lookup = (path: Path, name: string) => string | undefined;

/** Replaces `${NAME}` in texts. After parsing, so that no value can change the file's structure. */
function fillIn(value: unknown, path: Path, lookup: Lookup): unknown {
  if (typeof value === "string")
    return value.replace(
      /\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g,
      (whole, name: string) => lookup(path, name) ?? whole,
    );
  if (Array.isArray(value)) return value.map((item, index) => fillIn(item, [...path, index], lookup));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, fillIn(item, [...path, key], lookup)]),
  );
}

/** A mistake for each text and each name of a field that Postgres would refuse. */
function unusableTexts(value: unknown, path: Path): string[] {
  if (typeof value === "string")
    return isUnusable(value)
      ? [`${showPath(path)}: holds the NUL character or half of a surrogate pair`]
      : [];
  if (typeof value !== "object" || value === null) return [];
  if (Array.isArray(value)) return value.flatMap((item, index) => unusableTexts(item, [...path, index]));
  return Object.entries(value).flatMap(([key, item]) =>
    isUnusable(key)
      ? [`${showPath(path)}: has a field whose name holds the NUL character or half of a surrogate pair`]
      : unusableTexts(item, [...path, key]),
  );
}

function isUnusable(text: string): boolean {
  return text.includes("\0") || !text.isWellFormed();
}

function describe(issue: z.core.$ZodIssue, data: unknown): string[] {
  if (issue.code === "unrecognized_keys")
    return issue.keys.map((key) => `${showPath([...issue.path, key])}: is not a known field`);
  if (issue.code === "invalid_key") return [`${showPath(issue.path)}: is not an e-mail address`];
  if (valueAt(data, issue.path) === undefined) return [`${showPath(issue.path)}: is missing`];
  if (issue.code === "invalid_type") return [`${showPath(issue.path)}: must be of type ${issue.expected}`];
  if (issue.code === "invalid_format" && issue.format === "guid")
    return [`${showPath(issue.path)}: is not a UUID`];
  return [`${showPath(issue.path)}: ${issue.message}`];
}

function valueAt(data: unknown, path: Path): unknown {
  return path.reduce<unknown>(
    (value, key) =>
      typeof value === "object" && value !== null && Object.hasOwn(value, key)
        ? (value as Record<PropertyKey, unknown>)[key]
        : undefined,
    data,
  );
}

/** @example showPath(["organizations", 0, "users", 1, "email"]) // "organizations[0].users[1].email" */
function showPath(path: Path): string {
  const shown = path
    .map((key) => (typeof key === "number" ? `[${key}]` : `.${String(key)}`))
    .join("")
    .replace(/^\./, "");
  return shown === "" ? "the file" : shown;
}
