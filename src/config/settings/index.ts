/** Every setting, by subject: its name, its form and its default. */
import { z } from "zod";
import { LIMITS } from "./limits.ts";
import { API, OBSERVATION, PROCESSES } from "./serving.ts";
import { CHAT, CONSOLE, IDENTITY, MODELS, WEBHOOKS } from "./services.ts";
import { DATABASE, KEYS, OBJECTS, TEMPORAL } from "./stores.ts";

/** The groups in the order of docs/settings.md, each under its heading. */
export const SETTING_GROUPS = {
  Processes: PROCESSES,
  "The API": API,
  Postgres: DATABASE,
  Temporal: TEMPORAL,
  Objects: OBJECTS,
  "Master key": KEYS,
  Models: MODELS,
  "Access tokens": IDENTITY,
  "The console": CONSOLE,
  "Chat and its tools": CHAT,
  Webhooks: WEBHOOKS,
  Limits: LIMITS,
  "Logs, metrics, traces": OBSERVATION,
} as const;

const Environment = z.object({
  ...PROCESSES,
  ...API,
  ...DATABASE,
  ...TEMPORAL,
  ...OBJECTS,
  ...KEYS,
  ...MODELS,
  ...IDENTITY,
  ...CONSOLE,
  ...CHAT,
  ...WEBHOOKS,
  ...LIMITS,
  ...OBSERVATION,
});

/** The settings as they are used: each text transformed to its value, each default filled in. */
export type Settings = z.infer<typeof Environment>;
export type SettingName = keyof Settings;
/** The settings as the environment has them: texts, and nothing for what is not set. */
export type SettingTexts = Partial<Record<SettingName, string>>;

/** Every variable that is a setting. */
export const SETTING_NAMES: readonly string[] = Object.keys(Environment.shape);

/** @returns the values, or a line for each setting whose text has the wrong form; a line names no value. */
export function readSettings(
  texts: SettingTexts,
): { readonly settings: Settings } | { readonly problems: string[] } {
  const parsed = Environment.safeParse(texts);
  if (parsed.success) return { settings: parsed.data };
  return { problems: parsed.error.issues.map((issue) => `${String(issue.path[0])} ${issue.message}`) };
}
