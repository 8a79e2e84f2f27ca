/** Documents that kill the process of their parser, on the real stack: they end with a reason, alone. */
import { afterEach, expect, test } from "vitest";
import { ended, upload } from "../support/clients/client.ts";
import { makePdf } from "../support/files/text.ts";
import { DEADLY, WITH_POISON } from "../support/processes/poison-hook.ts";
import { documentClient } from "../support/clients/document-client.ts";
import { onKillableStack } from "../support/stack/shared-stack.ts";

const { stack, tenants } = onKillableStack({ withoutWorker: true });
const { rows } = documentClient({ stack, tenants });

afterEach(() => stack.worker.kill("SIGKILL"));

const put = async (content: string | Uint8Array<ArrayBuffer>, name: string): Promise<string> =>
  (await upload(stack.url, tenants.keys.editor, tenants.spaces.research, content, name)).id;
const stateOf = async (id: string) =>
  (await ended(stack.url, tenants.keys.editor, id, 120_000)).processing_state;

test("a document that kills its parser twice ends worker_crashed, and its group completes", async () => {
  const pdf = (text: string) => new Uint8Array(makePdf([[text, "Words of the page."]]));
  // Nothing is claimed before all documents exist, so that each lane gets them as one group.
  await rows(
    `create or replace function hold() returns trigger language plpgsql
     as 'begin new.held := true; return new; end'`,
  );
  await rows(
    "create or replace trigger hold before insert on pipeline_runs for each row execute function hold()",
  );
  const deadly = await Promise.all([
    put(pdf("a"), `${DEADLY.SIGSEGV}.pdf`),
    put("<p>One paragraph.</p>", `${DEADLY.SIGSEGV}.html`),
    put("<p>Another.</p>", `${DEADLY.SIGKILL}.html`),
  ]);
  const neighbours = await Promise.all([
    put(pdf("b"), "b.pdf"),
    put("<p>As any other.</p>", "c.html"),
    put("# As any other", "d.md"),
  ]);
  stack.restartWorker(WITH_POISON);
  await rows("drop trigger hold on pipeline_runs");
  await rows("update pipeline_runs set held = false where held");
  for (const id of deadly)
    expect(await stateOf(id)).toMatchObject({
      pipeline_status: "failed",
      error: { code: "worker_crashed", stage: "parsing" },
    });
  for (const id of neighbours) expect(await stateOf(id)).toMatchObject({ pipeline_status: "completed" });
  expect(stack.worker.child.exitCode ?? stack.worker.child.signalCode).toBeNull();
  expect(
    await rows(
      `select cardinality(run_ids) as members
       from claims
       where organization_id = '${tenants.acme}'
       order by created_at desc, lane
       limit 2`,
    ),
  ).toEqual([{ members: 4 }, { members: 2 }]);
  expect(
    await rows(
      `select max(lost_attempts) as lost
       from pipeline_runs
       where organization_id = '${tenants.acme}'`,
    ),
  ).toEqual([{ lost: 0 }]);
}, 120_000);
