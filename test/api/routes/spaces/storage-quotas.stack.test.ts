/** Quotas of what an organization stores, on the real stack. */
import { expect, test } from "vitest";
import { type Answer, call, fileForm } from "../../../support/clients/client.ts";
import { onKillableStack } from "../../../support/stack/shared-stack.ts";

const { stack, tenants } = onKillableStack({
  withoutWorker: true,
  env: { DOCUMENTS_PER_ORGANIZATION: "3", BYTES_PER_ORGANIZATION: "100" },
});

const put = (
  name: string,
  content: string,
  key = tenants.keys.owner,
  space_id = tenants.spaces.research,
): Promise<Answer> => call(stack.url, key, "POST", "/data/upload", fileForm(content, name, { space_id }));
const putAt = (path: string, content: string): Promise<Answer> =>
  call(
    stack.url,
    tenants.keys.owner,
    "POST",
    `/spaces/${tenants.spaces.archive}/data/upload`,
    fileForm(content, "a.txt", { path }),
  );
const over = (quota: string) => ({
  status: 400,
  body: { detail: `The upload would exceed the organization's quota of ${quota}` },
});
const objectsStored = async (): Promise<number> =>
  (
    await stack.database.db.owner.query(
      "select from raw_files where organization_id = $1 and deleted_at is null",
      [tenants.acme],
    )
  ).rowCount ?? 0;

test("uploads at once never exceed the documents of an organization; another one has its own", async () => {
  const answers = await Promise.all(
    Array.from({ length: 8 }, (_, index) => put(`${index}.txt`, "ten bytes!")),
  );
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(3);
  for (const answer of answers.filter(({ status }) => status !== 201))
    expect(answer).toMatchObject(over("3 documents"));
  expect(await objectsStored()).toBe(3);
  expect((await put("theirs.txt", "theirs", tenants.keys.rival, tenants.spaces.rival)).status).toBe(201);

  const accepted = answers.find(({ status }) => status === 201)!.body;
  expect(
    (
      await call(
        stack.url,
        tenants.keys.owner,
        "DELETE",
        `/spaces/${tenants.spaces.research}/data/files?path=${encodeURIComponent(accepted.file_path)}`,
      )
    ).status,
  ).toBe(204);
  expect((await putAt("", "ten bytes!")).status).toBe(201);
});

test("bytes count as they are stored: those of a file that is replaced are given back", async () => {
  expect(await putAt("", "x".repeat(81))).toMatchObject(over("100 bytes"));
  expect((await putAt("", "x".repeat(80))).status).toBe(201);
  expect((await putAt("", "y".repeat(80))).status).toBe(201);
  expect(await putAt("other", "1")).toMatchObject({ status: 400 });
});
