import { describe, expect, it } from "vitest";
import { createKeyText } from "../../../src/auth/api-keys.ts";
import { newId } from "../../../src/domain/ids.ts";
import { provisioning } from "../../support/tenants/provisioning.ts";

const { tag, email, apply, acme, ada, research, mistakes, rows, keysOf } = provisioning();
const agentsOf = () =>
  rows(
    `select agent.*
     from agents agent
     join spaces space on space.id = agent.space_id
     join users owner on owner.id = space.owner_id
     where owner.email = $1`,
    [email()],
  );

describe("a file that is applied", () => {
  it("makes all it names, and a private space for every user", async () => {
    const result = await apply(
      acme(
        [ada({ role: "admin", name: "Ada" }), { email: email("vic") }],
        [research({ members: { [email()]: "owner", [email("vic")]: "viewer" } })],
      ),
    );
    expect(result.created).toBeGreaterThan(0);
    expect(
      await rows(
        `select u.name, u.role, s.name as space, s.is_private, m.role as space_role
         from users u
         join space_members m on m.user_id = u.id
         join spaces s on s.id = m.space_id
         where u.email like $1
         order by u.email, s.is_private`,
        [`%@${tag()}.example`],
      ),
    ).toEqual([
      { name: "Ada", role: "admin", space: "Research", is_private: false, space_role: "owner" },
      { name: "Ada", role: "admin", space: "Private", is_private: true, space_role: "owner" },
      { name: "vic", role: "member", space: "Research", is_private: false, space_role: "viewer" },
      { name: "vic", role: "member", space: "Private", is_private: true, space_role: "owner" },
    ]);
  });

  it("changes nothing the second time", async () => {
    const full = acme(
      [
        ada({
          subject: `s-${tag()}`,
          api_keys: [
            {
              name: "a",
              key: createKeyText(),
              spaces: ["Research", "private"],
              expires_at: "2030-01-01T00:00:00Z",
              allowed_cidrs: ["2001:DB8::/32", "192.0.2.7"],
            },
            { name: "b" },
          ],
        }),
      ],
      [
        research({
          id: newId(),
          agents: [
            {
              name: "A",
              id: newId(),
              tool_attachments: [{ tool_id: "calculator" }],
              reasoning_config: { effort: "low" },
              temperature: 0.2,
              allowed_folder_ids: [newId()],
            },
          ],
        }),
      ],
    );
    expect((await apply(full)).keys).toHaveLength(1);
    expect(await apply(full)).toEqual({ created: 0, updated: 0, keys: [], warnings: [] });
  });

  it("confirms the addresses of users whom it names by id or by their confirmed address", async () => {
    const id = newId();
    const waiting = (address: string) =>
      rows("update users set confirmed_email = $2 where id = $1", [id, address]);
    const confirmed = async () =>
      (
        await rows<{ confirmed_email: string | null }>("select confirmed_email from users where id = $1", [
          id,
        ])
      )[0]!.confirmed_email;
    await apply(acme([ada({ id })]));
    await waiting(email("before"));
    expect(await apply(acme([ada()]))).toMatchObject({ updated: 0 });
    expect(await confirmed()).toBe(email("before"));
    expect(await apply(acme([ada({ id })]))).toMatchObject({ updated: 1 });
    expect(await confirmed()).toBeNull();
    await waiting(email().toUpperCase());
    await apply(acme([ada()]));
    expect(await confirmed()).toBeNull();
  });

  it("gives one result to several processes at once", async () => {
    const full = acme([ada({ api_keys: [{ name: "made" }] })], [research({ agents: [{ name: "A" }] })]);
    const results = await Promise.all([apply(full), apply(full), apply(full)]);
    expect(results.filter((result) => result.created > 0)).toHaveLength(1);
    expect(results.flatMap((result) => result.keys)).toHaveLength(1);
    expect(await keysOf()).toHaveLength(1);
  });

  it("wins for the fields it names, leaves the others, and deletes nothing", async () => {
    await apply(
      acme(
        [ada({ name: "Ada", role: "admin" }), { email: email("vic") }],
        [
          research({
            members: { [email()]: "owner", [email("vic")]: "viewer" },
            agents: [{ name: "A", description: "old", max_tokens: 5, version: "1.2.3" }, { name: "B" }],
          }),
        ],
      ),
    );
    await apply(
      acme(
        [ada({ name: "Ada Lovelace" }), { email: email("vic") }],
        [research({ members: { [email("vic")]: "editor" }, agents: [{ name: "A", description: "new" }] })],
      ),
    );
    expect(await rows("select name, role from users where email = $1", [email()])).toEqual([
      { name: "Ada Lovelace", role: "admin" },
    ]);
    expect(
      await rows(
        `select m.role
         from space_members m
         join users u on u.id = m.user_id
         join spaces s on s.id = m.space_id
         where not s.is_private
           and u.email like $1
         order by u.email`,
        [`%@${tag()}.example`],
      ),
    ).toEqual([{ role: "owner" }, { role: "editor" }]);
    const agents = await agentsOf();
    expect(agents).toHaveLength(2);
    expect(agents.find((agent) => agent["name"] === "A")).toMatchObject({
      description: "new",
      max_tokens: 5,
      version: "1.2.4",
    });
  });

  it("renames what it names by id", async () => {
    const [organization, space, agent] = [newId(), newId(), newId()];
    await apply(
      acme([ada()], [research({ id: space, agents: [{ name: "A", id: agent }] })], { id: organization }),
    );
    await apply([
      {
        name: `Renamed ${tag()}`,
        id: organization,
        users: [ada()],
        spaces: [{ name: "Lab", id: space, agents: [{ name: "B", id: agent }] }],
      },
    ]);
    expect(
      await rows(
        `select o.name as o, s.name as s, a.name as a
         from agents a
         join spaces s on s.id = a.space_id
         join organizations o on o.id = a.organization_id
         where a.id = $1`,
        [agent],
      ),
    ).toEqual([{ o: `Renamed ${tag()}`, s: "Lab", a: "B" }]);
  });

  it("is in the audit log once, for the organization that it changed", async () => {
    const id = newId();
    await apply(acme([ada()], [], { id }));
    await apply(acme([ada()], [], { id }));
    expect(await rows("select action, auth_method from audit_log where organization_id = $1", [id])).toEqual([
      { action: "organization:provision", auth_method: "system" },
    ]);
  });
});

describe("mistakes that the database shows", () => {
  it("are reported all at once, and nothing is changed", async () => {
    const taken = newId();
    await apply(acme([{ email: email("rob"), subject: `rob-${tag()}` }], [], { id: taken }));
    const found = await mistakes([
      {
        name: `Other ${tag()}`,
        users: [
          { email: email("rob") },
          ada({ subject: `rob-${tag()}` }),
          { email: email("eve"), id: taken },
        ],
        spaces: [{ name: "Lonely" }],
      },
    ]);
    expect(found).toEqual([
      "organizations[0].users[1].subject: is bound to another user",
      "organizations[0].users[2].id: is used for something else",
      "organizations[0].spaces[0].members: needs at least one owner",
    ]);
    expect(await rows("select from organizations where name = $1", [`Other ${tag()}`])).toHaveLength(0);
  });

  it("an id that something else has, and one that cannot be changed", async () => {
    const space = newId();
    await apply(acme([ada()], [research({ id: space })]));
    expect(await mistakes(acme([ada()], [research({ id: newId() })]))).toEqual([
      `organizations[0].spaces[0].id: the one with this name has the id ${space}, which cannot be changed`,
    ]);
    expect(
      await mistakes([
        {
          name: `Other ${tag()}`,
          users: [{ email: email("eve") }],
          spaces: [{ name: "Mine", id: space, members: { [email("eve")]: "owner" } }],
        },
      ]),
    ).toEqual(["organizations[0].spaces[0].id: is used for something else"]);
  });

  it("a space whose last owner would become a viewer", async () => {
    await apply(acme([ada()], [research()]));
    expect(await mistakes(acme([ada()], [research({ members: { [email()]: "viewer" } })]))).toEqual([
      "organizations[0].spaces[0].members: needs at least one owner",
    ]);
  });

  it("the key of somebody else", async () => {
    const key = createKeyText();
    await apply(acme([ada({ api_keys: [{ name: "k", key }] })]));
    expect(await mistakes(acme([{ email: email("eve"), api_keys: [{ name: "k", key }] }]))).toEqual([
      "organizations[0].users[0].api_keys[0].key: is the key of somebody else",
    ]);
  });
});
