/**
 * Tests that the alerts, their recorded series and their runbook agree; `npm run alerts` runs the series.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";

const read = (path: string): string => readFileSync(join(import.meta.dirname, "../..", path), "utf8");

interface Rule {
  readonly alert: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string; readonly action: string; readonly runbook: string };
}

interface Recorded {
  readonly name: string;
  readonly promql_expr_test: { readonly expr: string; readonly exp_samples: unknown[] }[];
}

const rules = (
  parse(read("deploy/prometheus/holdfast.rules.yml")) as { groups: { rules: Rule[] }[] }
).groups.flatMap((group) => group.rules);
const { rule_files: files, tests } = parse(read("deploy/prometheus/holdfast.rules.test.yml")) as {
  rule_files: string[];
  tests: Recorded[];
};
const runbook = read("docs/runbook.md");

test("each alert has recorded series on which it fires, and others on which it stays silent", () => {
  expect(files).toEqual(["holdfast.rules.yml"]);
  const outcomes = (fires: boolean): string[] => [
    ...new Set(
      tests.flatMap(({ name, promql_expr_test: [asked] }) =>
        asked!.exp_samples.length > 0 === fires ? [name.split(" ")[0]!] : [],
      ),
    ),
  ];
  const alerts = rules.map(({ alert }) => alert);
  expect(new Set(alerts).size).toBe(alerts.length);
  expect(outcomes(true).toSorted()).toEqual(alerts.toSorted());
  expect(outcomes(false).toSorted()).toEqual(alerts.toSorted());
});

test("each recorded series expects the alert that it is named after", () => {
  for (const { name, promql_expr_test: asked } of tests) {
    const [, alert, verb] = /^(\w+) (fires|stays silent): ./.exec(name)!;
    expect([
      asked.length,
      asked[0]!.expr.includes(`ALERTS{alertname="${alert}",alertstate="firing"}`),
      verb === "fires",
    ]).toEqual([1, true, asked[0]!.exp_samples.length > 0]);
  }
});

test("each alert links its section of the runbook, which has all four parts", () => {
  const sections = new Map(
    runbook
      .split(/^### /m)
      .slice(1)
      .map((section) => [section.slice(0, section.indexOf("\n")), section]),
  );
  for (const { alert, annotations } of rules) {
    expect(annotations.runbook).toBe(`docs/runbook.md#${alert.toLowerCase()}`);
    const section = sections.get(alert);
    for (const word of ["**Means.**", "**Look.**", "**Do.**", "**Over**"])
      expect(`${alert}: ${section ?? "no section"}`).toContain(word);
  }
  const named = [...sections.keys()].filter((name) => name.startsWith("Holdfast"));
  expect(named.toSorted()).toEqual(rules.map(({ alert }) => alert).toSorted());
});
