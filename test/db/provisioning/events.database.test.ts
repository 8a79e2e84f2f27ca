/** The events of what a provisioning file makes and changes. */
import { expect, it } from "vitest";
import { createKeyText } from "../../../src/auth/api-keys.ts";
import { provisioning } from "../../support/tenants/provisioning.ts";

const { tag, apply, acme, ada, research, rows } = provisioning();

const KEY = createKeyText();

/** What the file told since `after`, as types in the order of their names. */
async function toldSince(after: number) {
  const events = await rows(
    `select event.num, event.type, event.auth_method, to_jsonb(event)::text as all
     from events event
     join organizations organization on organization.id = event.organization_id
     where event.num > $1
       and organization.name like '%' || $2
     order by event.num`,
    [after, tag()],
  );
  expect(events.filter((event) => event["auth_method"] !== "system")).toEqual([]);
  expect(events.map((event) => event["all"]).join("\n")).not.toContain(tag());
  return {
    last: Math.max(after, ...events.map((event) => event["num"] as number)),
    types: events.map((event) => event["type"] as string).toSorted(),
  };
}

it("tell what was made, then what was changed, and nothing if the file is applied again", async () => {
  const file = (role: string, key: string) =>
    acme([ada({ role, api_keys: [{ name: "k", key }] })], [research()]);

  await apply(file("member", KEY));
  const made = await toldSince(0);
  await apply(file("member", KEY));
  const again = await toldSince(made.last);
  await apply(file("admin", createKeyText()));
  const changed = await toldSince(made.last);

  expect(made.types).toEqual(["key.created", "member.added", "space.created", "space.member_added"]);
  expect(again.types).toEqual([]);
  expect(changed.types).toEqual(["key.rolled", "member.updated"]);
});
