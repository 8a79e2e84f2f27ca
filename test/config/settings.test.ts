/** docs/settings.md is made from the settings, and from all of them; and a quota of nothing is no quota. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { z } from "zod";
import { expect, test } from "vitest";
import { ConfigError, loadConfig } from "../../src/config/config.ts";
import { ABOUT } from "../../src/config/settings/about.ts";
import { describeSettings } from "../../src/config/settings/document.ts";
import { SETTING_GROUPS, SETTING_NAMES } from "../../src/config/settings/index.ts";
import { NOT_IN_ENV } from "../chart/settings.ts";

const ROOT = join(import.meta.dirname, "../..");
const settings: [string, z.ZodType][] = Object.values(SETTING_GROUPS).flatMap((group) =>
  Object.entries<z.ZodType>(group),
);

function problemsOf(env: Record<string, string>): string[] {
  try {
    loadConfig(env);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
}

test("the page has every setting once, in a group", () => {
  expect(settings.map(([name]) => name).toSorted()).toEqual(SETTING_NAMES.toSorted());
});

test("the page in the repository is what the definitions say", () => {
  expect(readFileSync(join(ROOT, "docs/settings.md"), "utf8")).toBe(describeSettings());
});

test.each(settings)("%s is described", (_name, setting) => {
  expect(ABOUT.get(setting)?.what).toMatch(/^\S.*[^.\s]$/);
});

test("what the chart takes from a Secret alone is marked as a secret", () => {
  const fromSecrets = Object.keys(NOT_IN_ENV).filter(
    (name) => NOT_IN_ENV[name]!.startsWith("a Secret") && !name.endsWith("_FILE"),
  );
  const marked = settings.flatMap(([name, setting]) => (ABOUT.get(setting)?.isSecret === true ? [name] : []));
  expect(fromSecrets.filter((name) => !marked.includes(name))).toEqual([]);
});

test("a quota of nothing is refused by name, and quotas of kept responses have a default", () => {
  const none = { RESPONSE_BYTES_PER_USER: "0", RESPONSE_BYTES_PER_ORGANIZATION: "0" };
  expect(problemsOf(none)).toEqual(
    Object.keys(none).map((name) => expect.stringMatching(`^${name} must be at least 1`) as string),
  );
  expect(loadConfig({}).chat.responseQuotas).toEqual({
    bytesPerUser: 268_435_456,
    bytesPerOrganization: undefined,
  });
});
