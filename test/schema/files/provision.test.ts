import { describe, expect, it } from "vitest";
import { isWellFormedKey } from "../../../src/auth/api-keys.ts";
import { ProvisionError } from "../../../src/domain/tenancy/provision-error.ts";
import type { ProvisionFile } from "../../../src/domain/tenancy/provision-file.ts";
import { parseProvisionFile } from "../../../src/schema/files/provision.ts";

const KEY = "sk-0123456789abcdef0123456789abcdef";
const parse = (text: string, environment: Record<string, string> = {}): ProvisionFile =>
  parseProvisionFile(text, { environment, isKey: isWellFormedKey });

function mistakes(text: string, environment: Record<string, string> = {}): readonly string[] {
  try {
    parse(text, environment);
  } catch (error) {
    if (error instanceof ProvisionError) return error.mistakes;
    throw error;
  }
  return [];
}

/** One organization with these users and spaces, written in JSON, which is YAML. */
const file = (users: unknown[], spaces: unknown[] = []): string =>
  JSON.stringify({ organizations: [{ name: "Acme", users, spaces }] });
const ada = { email: "ada@acme.example" };
const space = (rest: Record<string, unknown> = {}) => ({
  name: "Research",
  members: { "ada@acme.example": "owner" },
  ...rest,
});

describe("a file", () => {
  it("takes texts from the environment, inside others too, and no value changes its structure", () => {
    const parsed = parse(
      "organizations:\n" +
        "  - name: ${NAME} Inc\n" +
        "    users: [{email: '${USER_NAME}@acme.example', name: '${ODD}'}]",
      {
        NAME: "Acme",
        USER_NAME: "ada",
        ODD: "x, role: admin}",
      },
    );
    expect(parsed.organizations[0]).toMatchObject({
      name: "Acme Inc",
      users: [{ email: "ada@acme.example", name: "x, role: admin}" }],
    });
    expect(parsed.organizations[0]!.users![0]).not.toHaveProperty("role");
  });

  it("holds only what it names: fields left out are not set", () => {
    expect(parse(file([ada])).organizations[0]!.users![0]).toEqual({ email: "ada@acme.example" });
  });

  it("has e-mail addresses in any case", () => {
    expect(
      mistakes(file([{ email: "Ada@Acme.example" }], [space({ members: { "ADA@acme.example": "owner" } })])),
    ).toEqual([]);
  });
});

describe("a mistake is named with its path:", () => {
  const user = "organizations[0].users[0]";
  const first = "organizations[0].spaces[0]";
  it.each<[string, string, string]>([
    ["a missing field", file([{ name: "Ada" }]), `${user}.email: is missing`],
    ["no e-mail address", file([{ email: "ada" }]), `${user}.email: is not an e-mail address`],
    ["an unknown field", file([{ ...ada, phone: "1" }]), `${user}.phone: is not a known field`],
    ["an unknown role", file([{ ...ada, role: "owner" }]), `${user}.role: must be one of: admin, member`],
    ["a wrong type", file([{ ...ada, name: 7 }]), `${user}.name: must be of type string`],
    ["no UUID", file([{ ...ada, id: "7" }]), `${user}.id: is not a UUID`],
    [
      "the same e-mail address twice",
      file([ada, { email: "ADA@acme.example" }]),
      "organizations[0].users[1].email: is the same as organizations[0].users[0].email",
    ],
    [
      "the same subject twice",
      file([
        { ...ada, subject: "s" },
        { email: "b@acme.example", subject: "s" },
      ]),
      "organizations[0].users[1].subject: is the same as organizations[0].users[0].subject",
    ],
    [
      "the same space twice",
      file([ada], [space(), space({ name: "RESEARCH" })]),
      "organizations[0].spaces[1].name: is the same as organizations[0].spaces[0].name",
    ],
    [
      "the same agent twice",
      file([ada], [space({ agents: [{ name: "A" }, { name: "a" }] })]),
      `${first}.agents[1].name: is the same as ${first}.agents[0].name`,
    ],
    [
      "an id for two things",
      file(
        [{ ...ada, id: "01900000-0000-7000-8000-000000000001" }],
        [space({ id: "01900000-0000-7000-8000-000000000001" })],
      ),
      `${first}.id: is the same as ${user}.id`,
    ],
    [
      "a member that is no user",
      file([ada], [space({ members: { "ada@acme.example": "owner", "eve@acme.example": "viewer" } })]),
      `${first}.members.eve@acme.example: is not a user of this organization in this file`,
    ],
    [
      "an unknown space role",
      file([ada], [space({ members: { "ada@acme.example": "admin" } })]),
      `${first}.members.ada@acme.example: must be one of: owner, editor, viewer`,
    ],
    [
      "a reserved name",
      file([ada], [space({ name: "Private" })]),
      `${first}.name: is reserved for private spaces`,
    ],
    [
      "an unknown tool",
      file([ada], [space({ agents: [{ name: "A", tool_attachments: [{ tool_id: "shell" }] }] })]),
      `${first}.agents[0].tool_attachments[0].tool_id: must be one of: knowledge_search, ` +
        "read_document, list_documents, current_time, calculator, http_fetch, mcp",
    ],
    [
      "a temperature out of range",
      file([ada], [space({ agents: [{ name: "A", temperature: 3 }] })]),
      `${first}.agents[0].temperature: must be 0 to 2`,
    ],
    [
      "a version that is none",
      file([ada], [space({ agents: [{ name: "A", version: "one" }] })]),
      `${first}.agents[0].version: must look like 1.0.0`,
    ],
    [
      "a key that is too short",
      file([{ ...ada, api_keys: [{ name: "k", key: "sk-short" }] }]),
      `${user}.api_keys[0].key: must begin with sk- and have 32 to 512 visible characters; ` +
        "with exactly 52, or 55 that begin with sk-hf-, its checksum must be right",
    ],
    [
      "a key twice",
      file([
        {
          ...ada,
          api_keys: [
            { name: "k", key: KEY },
            { name: "l", key: KEY },
          ],
        },
      ]),
      `${user}.api_keys[1].key: is the same as ${user}.api_keys[0].key`,
    ],
    [
      "a space of a key that nobody knows",
      file([{ ...ada, api_keys: [{ name: "k", spaces: ["private", "Lab"] }] }]),
      `${user}.api_keys[0].spaces[1]: "Lab" is not a space of this organization in this file, nor private`,
    ],
    [
      "spaces that are neither",
      file([{ ...ada, api_keys: [{ name: "k", spaces: "some" }] }]),
      `${user}.api_keys[0].spaces: must be all or a list of names of spaces`,
    ],
    [
      "an environment variable that is not set",
      file([{ ...ada, api_keys: [{ name: "k", key: "${ACME_KEY}" }] }]),
      `${user}.api_keys[0].key: the environment variable ACME_KEY is not set`,
    ],
    [
      "a key that may do nothing",
      file([{ ...ada, api_keys: [{ name: "k", capabilities: [] }] }]),
      `${user}.api_keys[0].capabilities: is empty`,
    ],
    [
      "a key that may be used nowhere",
      file([{ ...ada, api_keys: [{ name: "k", allowed_cidrs: [] }] }]),
      `${user}.api_keys[0].allowed_cidrs: is empty`,
    ],
    [
      "a NUL in a name",
      file([{ ...ada, api_keys: [{ name: "k\0" }] }]),
      `${user}.api_keys[0].name: holds the NUL character or half of a surrogate pair`,
    ],
    [
      "half of a surrogate pair",
      file([{ ...ada, subject: "\ud800" }]),
      `${user}.subject: holds the NUL character or half of a surrogate pair`,
    ],
    [
      "a NUL in the name of a field",
      file([ada], [space({ agents: [{ name: "A", reasoning_config: { "a\0": 1 } }] })]),
      `${first}.agents[0].reasoning_config: ` +
        "has a field whose name holds the NUL character or half of a surrogate pair",
    ],
    ["no organizations", "{}", "organizations: is missing"],
    ["no object", "[]", "the file: must be of type object"],
  ])("%s", (_what, text, expected) => {
    expect(mistakes(text)).toEqual([expected]);
  });

  it("all of them at once, of shape and of reference", () => {
    const text = file(
      [{ ...ada, role: "boss", api_keys: [{ name: "k", key: "sk-short" }] }, ada],
      [space({ members: { "eve@acme.example": "owner" }, colour: "red" })],
    );
    expect(mistakes(text)).toHaveLength(5);
  });

  it("what is not YAML at all, without showing the file's text", () => {
    const [mistake] = mistakes(`organizations: [\n  key: ${KEY}\n`);
    expect(mistake).toMatch(/^not YAML: .*line \d/);
    expect(mistake).not.toContain(KEY);
  });

  it("a value from the environment is never repeated", () => {
    expect(mistakes(file([{ ...ada, role: "${SECRET}" }]), { SECRET: "hunter2" }).join()).not.toContain(
      "hunter2",
    );
  });
});
