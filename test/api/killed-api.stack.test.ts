/** An API process that is killed in the middle of a request: repeats are one effect, and chat turns end. */
import { request as httpRequest } from "node:http";
import { Client, Connection } from "@temporalio/client";
import { afterEach, describe, expect, it, test } from "vitest";
import { call, ended, fileForm } from "../support/clients/client.ts";
import { documentClient } from "../support/clients/document-client.ts";
import { onKillableStack } from "../support/stack/shared-stack.ts";
import { until } from "../support/until.ts";

const { stack, tenants } = onKillableStack();
const { rows } = documentClient({ stack, tenants });

afterEach(() => stack.provider.reset());

const times = (count: number) => Array.from({ length: count }, (_, index) => index);
const put = (key: string, content: string, filename: string) =>
  call(
    stack.url,
    tenants.keys.editor,
    "POST",
    "/data/upload",
    fileForm(content, filename, { space_id: tenants.spaces.research }),
    { "idempotency-key": key },
  );
const countDocuments = async (name: string): Promise<number> =>
  (await rows("select count(*)::int as count from documents where name = $1", [name]))[0].count;
const countRuns = async (name: string): Promise<number> =>
  (await rows("select count(*)::int as count from pipeline_runs where file_name = $1", [name]))[0].count;

const chat = (model: string, body: Record<string, unknown> = {}) =>
  call(stack.url, tenants.keys.owner, "POST", "/chat/completions", {
    model,
    messages: [{ role: "user", content: "Where does the grey heron nest?" }],
    ...body,
  });
const requests = () =>
  stack.provider.requests.filter((request) => request.route === "chat").map((request) => request.body);

describe("in the middle of an upload", () => {
  test("between commit and answer, it has accepted one document, and a repeat gets the answer", async () => {
    // A lock delays the commit, so that the process dies after it asked for the commit and before it got the
    // answer.
    const hold = await stack.database.db.owner.connect();
    await hold.query("select pg_advisory_lock(1)");
    await rows(
      `create function held_commit() returns trigger
       language plpgsql
       as $$
       begin
         if new.name = 'killed.md' then
           perform pg_advisory_xact_lock(1);
         end if;
         return null;
       end
       $$`,
    );
    await rows(
      `create constraint trigger held_commit
       after insert on documents
       deferrable initially deferred
       for each row execute function held_commit()`,
    );
    const lost = put("killed", "# Killed\n\nAnd yet accepted.", "killed.md").catch(() => "no answer");
    await until("the transaction commits", async () => {
      const waiting = await rows(
        `select
         from pg_stat_activity
         where datname = current_database()
           and query = 'commit'
           and wait_event = 'advisory'`,
      );
      return waiting.length === 1;
    });
    await stack.api.kill("SIGKILL");
    expect(await lost).toBe("no answer");
    await hold.query("select pg_advisory_unlock(1)");
    hold.release();
    await stack.restartApi();
    const answers = await Promise.all(
      times(20).map(() => put("killed", "# Killed\n\nAnd yet accepted.", "killed.md")),
    );
    expect(new Set(answers.map((answer) => JSON.stringify(answer.body))).size).toBe(1);
    expect(answers[0]!.status).toBe(201);
    expect(await countDocuments("killed.md")).toBe(1);
    expect(await countRuns("killed.md")).toBe(1);
    const document = await ended(stack.url, tenants.keys.editor, answers[0]!.body.id);
    expect(document.processing_state.pipeline_status).toBe("completed");
    await rows("drop function held_commit() cascade");
  });

  test("while the body streams, it leaves the key to a repeat after its lease", async () => {
    const stream = httpRequest(`${stack.url}/v1/data/upload`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${tenants.keys.editor}`,
        "content-type": "multipart/form-data; boundary=edge",
        "idempotency-key": "streaming",
      },
    });
    stream.on("error", () => undefined);
    stream.write(
      `--edge\r\nContent-Disposition: form-data; name="file"; filename="streamed.md"\r\n\r\nThe first half`,
    );
    await until(
      "the key is claimed before the body is whole",
      async () =>
        (
          await rows(
            "select from idempotency_keys where key = 'streaming' and status is null and body_hash is null",
          )
        ).length === 1,
    );
    await stack.api.kill("SIGKILL");
    await stack.restartApi();
    const repeat = put("streaming", "The whole", "streamed.md");
    await rows(
      "update idempotency_keys set leased_until = now() - interval '1 second' where key = 'streaming'",
    );
    expect((await repeat).status).toBe(201);
    expect(await countDocuments("streamed.md")).toBe(1);
  });
});

describe("in mid-turn", () => {
  it("leaves nothing open: within five seconds its turns are lost and their workflows ended", async () => {
    const connection = await Connection.connect({ address: stack.temporalAddress });
    const { workflow } = new Client({ connection });
    const running = async () =>
      (
        await workflow.count(
          "ExecutionStatus = 'Running' AND (WorkflowType = 'chatTurns' OR WorkflowType = 'chatTurn')",
        )
      ).count;
    const toolCalls = [{ id: "a", name: "current_time", arguments: "{}" }];
    // Plain turns are answered before the process has found Temporal.
    stack.provider.replyAlways(({ tools, messages }) =>
      tools && messages.at(-1).role === "user" ? { toolCalls } : { pieces: ["ready"] },
    );
    await until("tools run", async () => (await chat(tenants.agents.librarian)).status === 200);
    stack.provider.requests.length = 0;
    stack.provider.replyAlways(({ tools, messages }) =>
      tools && messages.at(-1).role === "user"
        ? { toolCalls }
        : { pieces: ["one", "two"], after: 1, breakWith: "hang" },
    );
    const open = Array.from({ length: 3 }, () =>
      chat(tenants.agents.public, { stream: true }).catch(() => undefined),
    );
    open.push(chat(tenants.agents.librarian, { stream: true }).catch(() => undefined));
    await until("five calls are made", () => requests().length === 5);
    await until("their workflows run", async () => (await running()) >= 2);
    await stack.api.kill("SIGKILL");
    const killedAt = performance.now();
    await Promise.all(open);
    const { rows } = await until("no turn is open", async () => {
      const found = await stack.database.db.owner.query(
        `select status, error_code, ended_at
         from turns
         where organization_id = $1
           and started_at > now() - interval '20 seconds'`,
        [tenants.acme],
      );
      return found.rows.filter((turn) => turn.status === "lost").length === 4 && found;
    });
    expect(performance.now() - killedAt).toBeLessThan(5_000);
    expect(
      rows
        .filter((turn) => turn.status === "lost")
        .every((turn) => turn.error_code === "turn_lost" && turn.ended_at !== null),
    ).toBe(true);
    await until("no workflow runs", async () => (await running()) === 0);
    expect(performance.now() - killedAt).toBeLessThan(8_000);
    await until(
      "the provider's connections are closed",
      () => stack.provider.requests.filter((request) => request.abortedAt !== undefined).length === 4,
    );
    await connection.close();
    await stack.restartApi();
    await until("turns are taken again", async () => {
      stack.provider.replyAlways();
      return (await chat(tenants.agents.public)).status === 200;
    });
  });
});
