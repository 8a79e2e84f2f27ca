/**
 * The codec as Temporal's own tools use it: the Web UI's pages, whose requests were read out of the UI that
 * the embedded server serves (no browser comes with npm or pip, so that a test sends them in its place), and
 * the command line of Temporal itself.
 */
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { beforeAll, expect, test } from "vitest";
import { findTemporalProgram } from "../../../src/embedded/servers/temporal.ts";
import { ended, upload } from "../../support/clients/client.ts";
import { signedIn } from "../../support/clients/signed-in.ts";

const { stack, tenants } = signedIn();
const text = (base64: string): string => Buffer.from(base64, "base64").toString();
const ENCRYPTED = /^binary\/holdfast-/;

interface Payload {
  readonly metadata: Readonly<Record<string, string>>;
  readonly data: string;
}

let documentId: string;
/** What the UI's own server answers a page that asks for a workflow. */
let fromUi: { workflowId: string; payloads: Payload[] };

async function askUi(path: string): Promise<any> {
  const response = await fetch(`${stack.temporalUi}/api/v1/namespaces/default/${path}`, {
    headers: { accept: "application/json" },
  });
  expect(response.status).toBe(200);
  return response.json();
}

beforeAll(async () => {
  documentId = (
    await upload(
      stack.url,
      tenants.keys.owner,
      tenants.spaces.research,
      "# Seen\n\nIts workflow is looked at.",
    )
  ).id;
  await ended(stack.url, tenants.keys.owner, documentId);
  const query = encodeURIComponent(
    `WorkflowType = 'documentPipeline' and OrganizationId = '${tenants.acme}'`,
  );
  const { executions } = await askUi(`workflows?query=${query}`);
  const workflowId = executions[0].execution.workflowId as string;
  const { history } = await askUi(`workflows/${encodeURIComponent(workflowId)}/history`);
  fromUi = { workflowId, payloads: history.events[0].workflowExecutionStartedEventAttributes.input.payloads };
}, 120_000);

test("a page of the UI reads plain text; the audit log names who looked", async () => {
  const [stored] = fromUi.payloads;
  expect([text(stored!.metadata["encoding"]!), text(stored!.data).includes("claimId")]).toEqual([
    expect.stringMatching(ENCRYPTED),
    false,
  ]);
  const endpoint = `${stack.url}/codec/decode?preserveStorageRefs=true`;
  const origin = stack.temporalUi!;
  const operator = `ui-${tenants.acme}`;
  const headers: Record<string, string> = {
    "Content-Type": "application/json",
    "X-Namespace": "default",
    Authorization: `Bearer ${await stack.issuer.token(operator, { roles: ["operators"] })}`,
    "Authorization-Extras": "an-id-token",
  };
  const preflight = await fetch(endpoint, {
    method: "OPTIONS",
    headers: {
      origin,
      "access-control-request-method": "POST",
      "access-control-request-headers": Object.keys(headers).join(",").toLowerCase(),
    },
  });
  expect([
    preflight.status,
    preflight.headers.get("access-control-allow-origin"),
    preflight.headers.get("access-control-allow-methods"),
  ]).toEqual([204, origin, expect.stringContaining("POST")]);
  const allowed = preflight.headers.get("access-control-allow-headers")!.toLowerCase().split(", ");
  expect(Object.keys(headers).filter((name) => !allowed.includes(name.toLowerCase()))).toEqual([]);
  const answer = await fetch(endpoint, {
    method: "POST",
    headers: { ...headers, origin },
    body: JSON.stringify({ payloads: fromUi.payloads }),
  });
  expect([answer.status, answer.headers.get("access-control-allow-origin")]).toEqual([200, origin]);
  const { payloads } = (await answer.json()) as { payloads: Payload[] };
  expect([text(payloads[0]!.metadata["encoding"]!), text(payloads[0]!.data)]).toEqual([
    "json/plain",
    expect.stringContaining("claimId"),
  ]);
  const { rows } = await stack.database.db.owner.query(
    `select organization_id, auth_method
     from audit_log
     where action = 'payloads:decrypt'
       and resource_id = $1`,
    [operator],
  );
  expect(rows).toEqual([{ organization_id: tenants.acme, auth_method: "jwt" }]);
});

test("a page of another origin, and one without the operator's token, read nothing", async () => {
  const ask = (headers: Record<string, string>) =>
    fetch(`${stack.url}/codec/decode`, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify({ payloads: fromUi.payloads }),
    });
  const stranger = await ask({
    origin: "https://elsewhere.example",
    authorization: `Bearer ${await stack.issuer.token("op", { roles: ["operators"] })}`,
  });
  expect(stranger.headers.get("access-control-allow-origin")).toBeNull();
  expect((await ask({ origin: stack.temporalUi!, "x-namespace": "default" })).status).toBe(401);
});

test("Temporal's command line shows plain text with an operator's token, and nothing without", async () => {
  const program = await findTemporalProgram({
    cacheDir: process.env["HOLDFAST_TEST_CACHE_DIR"]!,
    onProgress: () => undefined,
  });
  const show = async (...options: string[]): Promise<string> => {
    const args = [
      "workflow",
      "show",
      "--workflow-id",
      fromUi.workflowId,
      "--address",
      stack.temporalAddress,
      "--detailed",
      ...options,
    ];
    return (
      await promisify(execFile)(program, args, {
        env: { PATH: "/usr/bin:/bin", HOME: stack.dataDir },
        maxBuffer: 16_000_000,
      })
    ).stdout;
  };
  const token = await stack.issuer.token("op-of-the-command-line", { roles: ["operators"] });
  expect(await show()).not.toContain("claimId");
  expect(await show("--codec-endpoint", `${stack.url}/codec`, "--codec-auth", `Bearer ${token}`)).toContain(
    "claimId",
  );
});

test("the server understands each query of the manual", async () => {
  const manual = readFileSync(join(import.meta.dirname, "../../../docs/operations.md"), "utf8");
  const [, section] = /^## Looking into Temporal$([^]*?)^## /m.exec(manual)!;
  const rows = section!.split("\n").filter((line) => line.startsWith("| ") && line.includes("`"));
  const queries = rows.flatMap((row) =>
    [...row.matchAll(/`([^`]+)`/g)].map(([, query]) =>
      query!.replace(/(StartTime < )'…'/, "$1'2031-01-01T00:00:00Z'").replaceAll("'…'", "'x'"),
    ),
  );
  expect(queries.length).toBeGreaterThan(8);
  for (const query of queries) await askUi(`workflows?query=${encodeURIComponent(query)}`);
});
