/** An attempt that was stopped in the midst of its work gives its documents back, and blames nothing. */
import { Readable, addAbortSignal } from "node:stream";
import { text } from "node:stream/consumers";
import { type Context, asyncLocalStorage } from "@temporalio/activity";
import { expect, it } from "vitest";
import { attemptStep } from "../../../src/activities/pipeline/attempt.ts";
import { acceptUpload } from "../../../src/commands/documents/accept-upload.ts";
import { newId } from "../../../src/domain/ids.ts";
import { createLog } from "../../../src/process/log.ts";
import {
  commandDatabase,
  documentParts,
  loggedIn,
  makeSharedSpace,
  storedMarkdown,
} from "../../support/tenants/commands.ts";

const test = commandDatabase();

it("what is read when the worker stops, or is taken for dead, waits for nothing", async () => {
  const { organization, spaceId, editorId } = await makeSharedSpace(test.db, "editor");
  const editor = await loggedIn(test.db, organization, editorId);
  const file = { spaceId, folderId: null, filename: "a.md", stored: storedMarkdown(organization) };
  const { id } = await acceptUpload(documentParts(test.db), editor, file);
  const claimId = newId();
  await test.db.owner.query(
    `with run as (
       update pipeline_runs set claim_id = $1 where document_id = $3 returning id
     )
     insert into claims (id, organization_id, priority, run_ids, leased_until)
     select $1, $2, 0, array[id], now() + interval '1 hour'
     from run`,
    [claimId, organization.id, id],
  );
  const lines: string[] = [];
  const log = createLog({ level: "warn", name: "test", destination: { write: (line) => lines.push(line) } });
  const stop = new AbortController();
  const context = { cancellationSignal: stop.signal, heartbeat: () => undefined } as unknown as Context;
  const input = { organization, claimId, isolated: false, lost: false };
  const outcome = await asyncLocalStorage.run(context, () =>
    attemptStep({ db: test.db, log }, input, "prepare", async (attempt) => {
      const [member] = attempt.members;
      const reading = text(
        addAbortSignal(attempt.signalOf(member!), new Readable({ read: () => undefined })),
      );
      stop.abort();
      await reading.catch((error: unknown) => attempt.ended(member!, "parsing", error));
    }),
  );
  expect(outcome).toMatchObject({ active: 1, failed: 0 });
  const { rows } = await test.db.owner.query(
    "select attempt_id, waiting_for, error from pipeline_runs where document_id = $1",
    [id],
  );
  expect(rows).toEqual([{ attempt_id: null, waiting_for: null, error: null }]);
  expect(lines).toEqual([]);
});
