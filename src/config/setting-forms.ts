/** The forms that the text of a setting may have, each with the message for a text that does not have it. */
import { readFileSync } from "node:fs";
import { z } from "zod";
import { QUEUES, type QueueName } from "../domain/work/queues.ts";

const MASTER_KEY_BYTES = 32;
export const QUEUE_NAMES = Object.keys(QUEUES) as QueueName[];

export const integer = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d+$/, "must be a whole number")
    .transform(Number)
    .pipe(z.number().min(min, `must be at least ${min}`).max(max, `must be at most ${max}`))
    .describe(max < Number.MAX_SAFE_INTEGER ? `${min} to ${max}` : `${min} or more`);

export const flag = z
  .enum(["true", "false", "1", "0"], "must be true or false")
  .transform((text) => text === "true" || text === "1")
  .describe("`true`, `false`");

export const ratio = z
  .string()
  .regex(/^(0|1|0?\.\d+|1\.0+)$/, "must be a number from 0 to 1")
  .transform(Number)
  .describe("a number from 0 to 1");

export const url = (...schemes: string[]) =>
  z
    .string()
    .refine(
      (text) => URL.canParse(text) && schemes.includes(new URL(text).protocol.slice(0, -1)),
      `must be a URL that starts with ${schemes.map((scheme) => `${scheme}://`).join(" or ")}`,
    )
    .describe(`${schemes.map((scheme) => `\`${scheme}://…\``).join(", ")}`);

/** Parameters of a database URL that name files; they are read at the start to report one that cannot be. */
const CERTIFICATE_FILES = ["sslrootcert", "sslcert", "sslkey"];

export const databaseUrl = url("postgres", "postgresql")
  .refine(
    (text) => !URL.canParse(text) || isDecodable(new URL(text)),
    "must have its user and password percent-encoded; a password may be set apart from it",
  )
  .refine(
    (text) => !URL.canParse(text) || hasCertificates(new URL(text)),
    `must name files that this process can read: ${CERTIFICATE_FILES.join(", ")}`,
  )
  .describe("`postgres://…`");

/** The database client takes a percent sign without two hex digits as is, but throws if not UTF-8. */
function isDecodable({ username, password }: URL): boolean {
  try {
    for (const part of [username, password]) if (!/%(?![\da-f]{2})/i.test(part)) decodeURIComponent(part);
    return true;
  } catch {
    return false;
  }
}

function hasCertificates({ searchParams }: URL): boolean {
  try {
    for (const name of CERTIFICATE_FILES) if (searchParams.get(name)) readFileSync(searchParams.get(name)!);
    return true;
  } catch {
    return false;
  }
}

const LOOPBACK = new Set(["localhost", "127.0.0.1", "[::1]"]);
export const issuer = url("https", "http")
  .refine(
    (text) => !text.startsWith("http:") || !URL.canParse(text) || LOOPBACK.has(new URL(text).hostname),
    "must be https, or http on loopback",
  )
  .describe("`https://…`, or `http://…` on loopback");

export const masterKey = z
  .base64("must be base64")
  .transform((text) => Buffer.from(text, "base64"))
  .refine(
    (key) => key.length === MASTER_KEY_BYTES,
    `must hold ${MASTER_KEY_BYTES} bytes, e.g. from: openssl rand -base64 32`,
  )
  .describe(`${MASTER_KEY_BYTES} bytes in base64 (\`openssl rand -base64 ${MASTER_KEY_BYTES}\`)`);

export const kmsKeyName = z
  .string()
  .regex(
    /^projects\/[^/]+\/locations\/[^/]+\/keyRings\/[^/]+\/cryptoKeys\/[^/]+$/,
    "must be projects/…/locations/…/keyRings/…/cryptoKeys/…",
  )
  .describe("`projects/…/locations/…/keyRings/…/cryptoKeys/…`");

export const queueList = z
  .string()
  .transform((text) => [
    ...new Set(
      text
        .split(",")
        .map((name) => name.trim())
        .filter((name) => name !== ""),
    ),
  ])
  .pipe(
    z
      .array(z.enum(QUEUE_NAMES, `must be a comma-separated list of: ${QUEUE_NAMES.join(", ")}`))
      .min(1, "must name at least one queue"),
  )
  .describe(`comma-separated: ${QUEUE_NAMES.map((name) => `\`${name}\``).join(", ")}`);

export const hostPatterns = z
  .string()
  .transform((text) =>
    text
      .split(",")
      .map((host) => host.trim().toLowerCase())
      .filter((host) => host !== ""),
  )
  .pipe(
    z.array(
      z
        .string()
        .regex(
          /^(\*\.)?[a-z0-9.-]+$/,
          "must be a comma-separated list of host names, or *.example.org for all below one",
        ),
    ),
  )
  .describe("hosts, comma-separated; `*.example.org` is every host in that domain");

const McpServers = z.record(
  z.string().regex(/^[a-z0-9_-]{1,24}$/),
  z.strictObject({
    url: url("https", "http"),
    headers: z.record(z.string(), z.string()).optional(),
    tools: z.array(z.string()).optional(),
  }),
);
export const mcpServers = z
  .string()
  .transform((text, context) => {
    const parsed = McpServers.safeParse(jsonOf(text));
    if (parsed.success) return parsed.data;
    context.addIssue({
      code: "custom",
      message: 'must be JSON: {"name": {"url": "https://…", "headers": {…}, "tools": [names]}}',
    });
    return z.NEVER;
  })
  .describe('JSON: `{"name": {"url", "headers", "tools"}}`');

const ChatFallbacks = z
  .array(
    z.strictObject({
      base_url: url("https", "http"),
      api_key: z.string().optional(),
      model: z.string().min(1),
    }),
  )
  .max(8);
export const chatFallbacks = z
  .string()
  .transform((text, context) => {
    const parsed = ChatFallbacks.safeParse(jsonOf(text));
    if (parsed.success)
      return parsed.data.map(({ base_url, api_key, model }) => ({
        baseUrl: base_url,
        apiKey: api_key,
        model,
      }));
    context.addIssue({
      code: "custom",
      message: 'must be JSON: [{"base_url": "https://…", "api_key": "…", "model": "…"}]',
    });
    return z.NEVER;
  })
  .describe('JSON: `[{"base_url", "api_key", "model"}]`, at most 8');
export const originList = z
  .string()
  .transform((text) => text.split(",").map((part) => part.trim().replace(/\/$/, "")))
  .pipe(
    z.array(
      z
        .string()
        .regex(/^https?:\/\/[^/\s*]+$/, "must be origins like https://app.example.org, comma-separated"),
    ),
  )
  .describe("origins like `https://app.example.org`, comma-separated");

/** As in an address: `audience=holdfast&resource=…`. */
export const queryString = z
  .string()
  .transform((text) => Object.fromEntries(new URLSearchParams(text)))
  .describe("a query string, such as `audience=holdfast`");

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The bytes of the file that a setting names. */
export const readableFile = z
  .string()
  .transform((path, context) => {
    try {
      return readFileSync(path);
    } catch {
      context.addIssue({ code: "custom", message: "must name a file that this process can read" });
      return z.NEVER;
    }
  })
  .describe("a readable file");
