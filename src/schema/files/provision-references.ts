/** Checks a provisioning file as a whole: names, ids and keys given twice, unknown members and spaces. */
import { PRIVATE_SPACE } from "../../domain/tenancy/provision-file.ts";

type Fields = Readonly<Record<string, unknown>>;

interface At {
  readonly path: string;
  readonly fields: Fields;
}

/**
 * Takes the data before it is checked against the contract, so that all mistakes of a file are reported at
 * once. Parts that do not have the expected shape are skipped here.
 * @param data the parsed YAML, with its variables filled in.
 * @returns the mistakes, each with its path.
 */
export function brokenReferences(data: unknown, isKey: (text: string) => boolean): string[] {
  const organizations = children({ path: "", fields: fieldsOf(data) }, "organizations");
  const users = organizations.flatMap((organization) => children(organization, "users"));
  const keys = users.flatMap((user) => children(user, "api_keys"));
  const spaces = organizations.flatMap((organization) => children(organization, "spaces"));
  const agents = spaces.flatMap((space) => children(space, "agents"));
  return [
    ...repeated(organizations, "name"),
    ...repeated(users, "subject", exact),
    ...repeated([...organizations, ...users, ...spaces, ...agents], "id"),
    ...repeated(keys, "key", exact),
    ...keys
      .filter(
        (key) =>
          typeof key.fields["key"] === "string" &&
          !isKey(key.fields["key"]) &&
          !key.fields["key"].includes("${"),
      )
      .map(malformedKey),
    ...organizations.flatMap(mistakesWithin),
    ...spaces.flatMap((space) => repeated(children(space, "agents"), "name")),
    ...users.flatMap((user) => repeated(children(user, "api_keys"), "name")),
  ];
}

function mistakesWithin(organization: At): string[] {
  const users = children(organization, "users");
  const spaces = children(organization, "spaces");
  const emails = new Set(users.map((user) => folded(user.fields["email"])));
  const names = new Set([PRIVATE_SPACE, ...spaces.map((space) => folded(space.fields["name"]))]);
  const strangers = spaces.flatMap((space) =>
    Object.keys(fieldsOf(space.fields["members"]))
      .filter((email) => !emails.has(folded(email)))
      .map((email) => `${space.path}.members.${email}: is not a user of this organization in this file`),
  );
  const unknownSpaces = users
    .flatMap((user) => children(user, "api_keys"))
    .flatMap((key) =>
      list(key.fields["spaces"]).map((name, index) => ({ path: `${key.path}.spaces[${index}]`, name })),
    )
    .filter(({ name }) => typeof name === "string" && !names.has(folded(name)))
    .map(
      ({ path, name }) =>
        `${path}: "${String(name)}" is not a space of this organization in this file, nor ${PRIVATE_SPACE}`,
    );
  const reserved = spaces
    .filter((space) => folded(space.fields["name"]) === PRIVATE_SPACE)
    .map((space) => `${space.path}.name: is reserved for private spaces`);
  return [
    ...repeated(users, "email"),
    ...repeated(spaces, "name"),
    ...strangers,
    ...unknownSpaces,
    ...reserved,
  ];
}

function malformedKey(key: At): string {
  return (
    `${key.path}.key: must begin with sk- and have 32 to 512 visible characters; ` +
    "with exactly 52, or 55 that begin with sk-hf-, its checksum must be right"
  );
}

/** One mistake for each item with a `field` that an earlier item has too. */
function repeated(all: readonly At[], field: string, same: (value: unknown) => string = folded): string[] {
  const first = new Map<string, string>();
  return all.flatMap(({ path, fields }) => {
    const value = fields[field];
    if (typeof value !== "string") return [];
    const before = first.get(same(value));
    if (before === undefined) first.set(same(value), `${path}.${field}`);
    return before === undefined ? [] : [`${path}.${field}: is the same as ${before}`];
  });
}

function exact(value: unknown): string {
  return String(value);
}

/** Names and e-mail addresses are the same if they differ only in case or in blanks around them. */
function folded(value: unknown): string {
  return typeof value === "string" ? value.trim().toLowerCase() : "";
}

function children(parent: At, field: string): At[] {
  const path = parent.path === "" ? field : `${parent.path}.${field}`;
  return list(parent.fields[field]).map((item, index) => ({
    path: `${path}[${index}]`,
    fields: fieldsOf(item),
  }));
}

function list(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

function fieldsOf(value: unknown): Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : {};
}
