/** The text of docs/settings.md: a table for each group of settings, made from their definitions. */
import { z } from "zod";
import { ABOUT, READERS } from "./about.ts";
import { SETTING_GROUPS } from "./index.ts";

const HEAD = `# Settings

<!-- Written by \`npm run settings\` from src/config/settings, and compared by \`npm run check\`. -->

Every setting is an environment variable; an empty one counts as not set. Wrong or contradictory settings stop
the start, and every problem is named at once. A warning names variables that look like settings but are not,
never their values.

*Default* in italics says what applies while the setting is not set. 🔒 marks a secret: keep it out of
repositories, logs and the plain values of the chart.
`;

const FOOT = `
Secrets that libraries read by themselves: \`AWS_ACCESS_KEY_ID\`, \`AWS_SECRET_ACCESS_KEY\` and
\`AWS_SESSION_TOKEN\` by AWS's client, and \`OTEL_EXPORTER_OTLP_HEADERS\` by the exporter of traces.
`;

const COLUMNS = "| setting | default | values | read by | what it does |\n|---|---|---|---|---|";

/** @throws Error if a setting has no description. */
export function describeSettings(): string {
  const sections = Object.entries(SETTING_GROUPS).map(([heading, settings]) => {
    const rows = Object.entries(settings).map(([name, schema]) => row(name, schema));
    return `## ${heading}\n\n${COLUMNS}\n${rows.join("\n")}\n`;
  });
  return `${[HEAD, ...sections].join("\n")}${FOOT}`;
}

function row(name: string, schema: z.ZodType): string {
  const about = ABOUT.get(schema);
  if (about === undefined) throw new Error(`${name} has no description: register it with ABOUT`);
  const { what, unset, readBy = READERS, isSecret } = about;
  const cells = [
    `\`${name}\`${isSecret === true ? " 🔒" : ""}`,
    defaultOf(schema) ?? (unset === undefined ? "" : `*${unset}*`),
    valuesOf(schema),
    readBy.length === READERS.length ? "all" : readBy.join(", "),
    what,
  ];
  return `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
}

/** Undefined for a setting without a default value. */
function defaultOf(schema: z.ZodType): string | undefined {
  if (!(schema instanceof z.ZodDefault)) return undefined;
  const value: unknown = schema.def.defaultValue;
  if (Array.isArray(value)) return value.length === 0 ? "none" : "all";
  if (typeof value === "object" && value !== null && Object.keys(value).length === 0) return "none";
  return `\`${String(value)}\``;
}

/** What a setting may be: the description of its schema or of the schema inside it; empty for any text. */
function valuesOf(schema: z.ZodType): string {
  const described = z.globalRegistry.get(schema)?.description;
  if (described !== undefined) return described;
  if (schema instanceof z.ZodDefault || schema instanceof z.ZodOptional)
    return valuesOf(schema.unwrap() as z.ZodType);
  if (schema instanceof z.ZodEnum) return schema.options.map((option) => `\`${option}\``).join(", ");
  return "";
}
