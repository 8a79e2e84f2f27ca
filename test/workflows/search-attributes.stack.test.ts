/**
 * What an operator finds in Temporal, on the real stack: every documented query is valid, and workflows carry
 * the attributes that it uses.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { loadConfig, requireReal } from "../../src/config/config.ts";
import { openSharedDeps, type SharedDeps } from "../../src/deps.ts";
import { SEARCH_ATTRIBUTES } from "../../src/domain/work/search-attributes.ts";
import { ended, upload } from "../support/clients/client.ts";
import { documentClient } from "../support/clients/document-client.ts";
import { onSharedStack } from "../support/stack/shared-stack.ts";
import { until } from "../support/until.ts";

const { stack, tenants } = onSharedStack();
const { editor } = documentClient({ stack, tenants });
/** Its client reads encrypted payloads, as the Temporal UI does through the codec. */
let shared: SharedDeps;
let documentId: string;

beforeAll(async () => {
  shared = await openSharedDeps(requireReal(loadConfig(stack.env)), "test");
  documentId = (
    await upload(
      stack.url,
      tenants.keys.editor,
      tenants.spaces.research,
      "# Found\n\nBy its attributes.",
      "a name that nobody may read.md",
    )
  ).id;
  await ended(stack.url, tenants.keys.editor, documentId);
});

afterAll(async () => {
  await shared.close();
});

/** Returns the one workflow that the query finds, as soon as Temporal lists it. */
async function found(query: string) {
  const execution = await until(`a workflow with ${query}`, async () => {
    for await (const one of shared.temporal.workflow.list({ query })) return one;
    return undefined;
  });
  const description = await shared.temporal.workflow
    .getHandle(execution.workflowId, execution.runId)
    .describe();
  return { attributes: description.searchAttributes, summary: await description.staticSummary() };
}

/** Returns the queries in the table of docs/operations.md, with their placeholders filled in. */
function documentedQueries(): string[] {
  const text = readFileSync(join(import.meta.dirname, "../../docs/operations.md"), "utf8");
  const table = /^\| question \| query \|\n(?:\|.*\n)+/m.exec(text)![0];
  const queries = [...table.matchAll(/`([^`]+)`/g)].map((match) => match[1]!);
  return queries.map((query) =>
    query
      .replace("StartTime < '…'", "StartTime < '2026-01-01T00:00:00Z'")
      .replaceAll("'…'", `'${tenants.acme}'`),
  );
}

test("a namespace has every attribute before the first workflow starts", async () => {
  const { customAttributes } = await shared.temporal.connection.operatorService.listSearchAttributes({
    namespace: "default",
  });
  expect(Object.keys(customAttributes ?? {})).toEqual(expect.arrayContaining(Object.keys(SEARCH_ATTRIBUTES)));
});

test.each(documentedQueries())("docs/operations.md: %s is a query", async (query) => {
  await expect(shared.temporal.workflow.count(query)).resolves.toMatchObject({ count: expect.any(Number) });
});

describe("is found by its tenant, and says without names what it is, where it is and how it ended", () => {
  test("a pipeline", async () => {
    const { attributes, summary } = await found(`DocumentId = '${documentId}' AND Outcome = 'completed'`);
    expect(attributes).toMatchObject({
      OrganizationId: [tenants.acme],
      SpaceId: [tenants.spaces.research],
      DocumentId: [documentId],
      Stage: ["done"],
      Trigger: ["single"],
    });
    expect(summary).toBe("one document");
  });

  test("a batch", async () => {
    await editor("POST", "/data/batch-reprocess", { document_ids: [documentId] });
    const { attributes, summary } = await found(
      `WorkflowType = 'batchReprocess' AND Outcome = 'completed' AND OrganizationId = '${tenants.acme}'`,
    );
    expect(attributes).toMatchObject({ OrganizationId: [tenants.acme], Stage: ["done"] });
    expect(summary).toMatch(/\b1\b/);
  });

  test("a deletion", async () => {
    await editor("DELETE", `/data/${documentId}`);
    const { attributes, summary } = await found(
      "WorkflowType = 'deleteTarget' AND ExecutionStatus = 'Completed' AND OrganizationId = " +
        `'${tenants.acme}'`,
    );
    expect(attributes).toMatchObject({ OrganizationId: [tenants.acme] });
    expect(summary).not.toMatch(/nobody/);
  });
});
