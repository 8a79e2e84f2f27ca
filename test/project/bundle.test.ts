/** The workflow sandbox imports types and pure code only, through however many files. */
import { join, relative } from "node:path";
import { DefaultLogger, bundleWorkflowCode } from "@temporalio/worker";
import { expect, test } from "vitest";
import { WORKFLOW_INTERCEPTORS } from "../../src/temporal/workflow-bundle.ts";

const ROOT = join(import.meta.dirname, "../..");
const PURE = ["src/workflows/", "src/domain/", "src/temporal/failure-converter.cjs"];

test("the workflow bundle contains only src/workflows, src/domain and Temporal's packages", async () => {
  const modules = new Set<string>();
  await bundleWorkflowCode({
    workflowsPath: join(ROOT, "src/workflows/index.ts"),
    workflowInterceptorModules: WORKFLOW_INTERCEPTORS,
    failureConverterPath: join(ROOT, "src/temporal/failure-converter.cjs"),
    logger: new DefaultLogger("ERROR"),
    webpackConfigHook: (config) => ({
      ...config,
      plugins: [
        ...(config.plugins ?? []),
        (compiler) =>
          compiler.hooks.done.tap("list modules", ({ compilation }) => {
            for (const module of compilation.modules) {
              const file = module.nameForCondition();
              if (file !== null) modules.add(relative(ROOT, file));
            }
          }),
      ],
    }),
  });
  const ours = [...modules].filter((file) => !file.startsWith("node_modules/"));
  expect(ours.filter((file) => file.startsWith("src/workflows/")).length).toBeGreaterThan(3);
  expect(ours.filter((file) => !PURE.some((prefix) => file.startsWith(prefix)))).toEqual([]);
  const libraries = new Set(
    [...modules]
      .filter((file) => file.startsWith("node_modules/"))
      .map((file) => /^node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(file)?.[1]),
  );
  for (const forbidden of [
    "pg",
    "koa",
    "openai",
    "zod",
    "pino",
    "@google-cloud/storage",
    "@opentelemetry/api",
    "prom-client",
  ])
    expect(libraries.has(forbidden)).toBe(false);
});
