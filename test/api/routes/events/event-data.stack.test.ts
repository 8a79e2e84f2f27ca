/** The events of a document's life have the data that the contract says, and nothing else. */
import { expect, test } from "vitest";
import { newId } from "../../../../src/domain/ids.ts";
import { EVENT_DATA } from "../../../../src/schema/event-data.ts";
import { call, ended, upload } from "../../../support/clients/client.ts";
import { onSharedStack } from "../../../support/stack/shared-stack.ts";

const { stack, tenants } = onSharedStack();
const { keys, spaces } = tenants;

test("each event of an upload, a change and a deletion parses with the schema of its type", async () => {
  const send = (method: string, path: string, body?: unknown) =>
    call(stack.url, keys.owner, method, path, body);
  const start = (await send("GET", "/events?after=now")).body.next_cursor;
  const { id } = await upload(stack.url, keys.owner, spaces.research, "Otters sleep.", "otters.md");
  await ended(stack.url, keys.owner, id);
  const { body: folder } = await send("POST", "/folders", { name: newId(), space_id: spaces.research });
  await send("PATCH", `/data/${id}`, { folder_id: folder.id });
  await send("DELETE", `/data/${id}`);
  const found: any[] = [];
  for (let cursor = start; !found.some(({ type }) => type === "document.deleted");) {
    const { body } = await send("GET", `/events?after=${cursor}&wait=20`);
    expect(body.items).not.toEqual([]);
    found.push(...body.items);
    cursor = body.next_cursor;
  }

  expect(found.map(({ type }) => type)).toEqual(
    expect.arrayContaining(["document.uploaded", "document.completed", "folder.created", "document.deleted"]),
  );
  for (const { type, data } of found)
    expect([type, EVENT_DATA[type as keyof typeof EVENT_DATA].strict().safeParse(data).error]).toEqual([
      type,
      undefined,
    ]);
});
