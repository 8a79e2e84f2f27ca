/** The codec endpoint, with payloads out of the raw history of a real workflow. */
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { connect } from "node:net";
import { Connection } from "@temporalio/client";
import { beforeAll, expect, test } from "vitest";
import { ended, upload } from "../../../support/clients/client.ts";
import { signedIn } from "../../../support/clients/signed-in.ts";
import { until } from "../../../support/until.ts";

const people = signedIn();
const { stack, tenants } = people;
const text = (base64: string): string => Buffer.from(base64, "base64").toString();
/** The organization that the payload belongs to. */
let owner: string;
let payload: { metadata: Record<string, string>; data: string };

beforeAll(async () => {
  const { url, temporalAddress } = stack;
  const document = await upload(
    url,
    tenants.keys.owner,
    tenants.spaces.research,
    "# Coded\n\nA workflow is started for it.",
  );
  await ended(url, tenants.keys.owner, document.id);
  const connection = await Connection.connect({ address: temporalAddress });
  const { executions } = await connection.workflowService.listWorkflowExecutions({
    namespace: "default",
    query: "WorkflowType = 'documentPipeline'",
  });
  const { history } = await connection.workflowService.getWorkflowExecutionHistory({
    namespace: "default",
    execution: executions[0]!.execution!,
  });
  const stored = history!.events![0]!.workflowExecutionStartedEventAttributes!.input!.payloads![0]!;
  const base64 = (bytes: Uint8Array | null | undefined): string =>
    Buffer.from(bytes ?? []).toString("base64");
  payload = {
    metadata: Object.fromEntries(
      Object.entries(stored.metadata!).map(([name, value]) => [name, base64(value)]),
    ),
    data: base64(stored.data),
  };
  owner = text(payload.metadata["organization"]!);
  await connection.close();
}, 120_000);

async function decode(token: string | null, payloads: unknown[] = [payload]) {
  const headers = {
    "content-type": "application/json",
    ...(token === null ? {} : { authorization: `Bearer ${token}` }),
  };
  const response = await fetch(`${stack.url}/codec/decode`, {
    method: "POST",
    headers,
    body: JSON.stringify({ payloads }),
  });
  return { status: response.status, body: (await response.json()) as any };
}

test("an operator reads what the history keeps encrypted", async () => {
  expect(text(payload.data)).not.toContain("claimId");
  const { status, body } = await decode(
    await stack.issuer.token("operator-of-nobody", { roles: ["operators"] }),
  );
  expect(status).toBe(200);
  expect(text(body.payloads[0].metadata.encoding)).toBe("json/plain");
  expect(text(body.payloads[0].data)).toContain("claimId");
  await until("the log names who looked", () => stack.api.output().includes("operator-of-nobody"));
});

test("admins, keys and strangers are refused", async () => {
  expect((await decode(await stack.issuer.token("ada"))).status).toBe(403);
  expect((await decode(await stack.issuer.token("ada", { roles: "operators" }))).status).toBe(403);
  for (const token of [null, tenants.keys.owner, "not.a.token"])
    expect((await decode(token)).status).toBe(401);
});

test("a stranger is refused while the body that was announced has not come", async () => {
  const socket = connect(Number(new URL(stack.url).port), "127.0.0.1");
  await once(socket, "connect");
  socket.write(
    "POST /codec/decode HTTP/1.1\r\nHost: x\r\n" +
      "Content-Type: application/json\r\nContent-Length: 4000000\r\n\r\n",
  );
  const [head] = (await once(socket, "data")) as [Buffer];
  socket.destroy();
  expect(head.toString()).toMatch(/^HTTP\/1\.1 401 /);
});

test("what was changed stays as it is", async () => {
  const changed = { ...payload, data: Buffer.from(text(payload.data).toUpperCase()).toString("base64") };
  const { status, body } = await decode(await stack.issuer.token("op", { roles: ["operators"] }), [
    changed,
    payload,
  ]);
  expect(status).toBe(200);
  expect(body.payloads[0]).toEqual(changed);
  expect(text(body.payloads[1].data)).toContain("claimId");
});

test("each organization whose payloads are decrypted gets one audit row, and no other does", async () => {
  const token = await stack.issuer.token(`op-${tenants.acme}`, { roles: ["operators"] });
  const named = (organization: string) => ({
    ...payload,
    metadata: { ...payload.metadata, organization: Buffer.from(organization).toString("base64") },
  });
  const strangers = [named(tenants.rival), named(randomUUID()), named("nonsense"), named("x".repeat(10_000))];
  const { status, body } = await decode(token, [payload, payload, ...strangers, { metadata: {}, data: "" }]);
  expect(status).toBe(200);
  expect(body.payloads.slice(2, 6)).toEqual(strangers);
  const { rows } = await stack.database.db.owner.query(
    `select organization_id, auth_method, actor_id
     from audit_log
     where action = 'payloads:decrypt' and resource_id = $1`,
    [`op-${tenants.acme}`],
  );
  expect(rows).toEqual([{ organization_id: owner, auth_method: "jwt", actor_id: null }]);
});

test("a decryption that cannot be audited is not shown", async () => {
  const { db } = stack.database;
  const token = await stack.issuer.token("op", { roles: ["operators"] });
  // As if the disk of the database were full.
  await db.owner.query(`
    create function refuse_row() returns trigger language plpgsql as $$
    begin
      raise exception 'no space left' using errcode = 'disk_full';
    end $$;
    create trigger refuse_row
      before insert on audit_log
      for each row
      when (new.resource_id = 'unwritten')
      execute function refuse_row()`);
  try {
    const { status, body } = await decode(await stack.issuer.token("unwritten", { roles: ["operators"] }));
    expect(status).toBe(503);
    expect(body.payloads).toBeUndefined();
    expect((await decode(token)).status).toBe(200);
  } finally {
    await db.owner.query("drop trigger refuse_row on audit_log; drop function refuse_row");
  }
});
