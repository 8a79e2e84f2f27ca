/**
 * Gives tests of provisioning a database of their own and small files of one organization, with new names for
 * each test.
 */
import { createHash } from "node:crypto";
import { afterAll, beforeAll, beforeEach, expect } from "vitest";
import { createKeyText, isWellFormedKey, keyPrefix } from "../../../src/auth/api-keys.ts";
import { applyProvisionFile, type ProvisionResult } from "../../../src/db/provisioning/apply.ts";
import { newId } from "../../../src/domain/ids.ts";
import { ProvisionError } from "../../../src/domain/tenancy/provision-error.ts";
import { parseProvisionFile } from "../../../src/schema/files/provision.ts";
import { createTestDatabase, type TestDatabase } from "../servers/database.ts";

export const maker = {
  create: createKeyText,
  hash: (text: string) => createHash("sha256").update(text).digest(),
  prefix: keyPrefix,
};

export type Part = Record<string, unknown>;

interface KeyRow extends Part {
  readonly id: string;
  readonly name: string;
  readonly hash: Buffer;
  readonly all_spaces: boolean;
  readonly created_by: string | null;
  readonly revoked_at: Date | null;
}

type Applied = Omit<ProvisionResult, "changes" | "unnamed">;

interface Provisioning {
  /** Returns the database; call it only while tests run. */
  readonly database: () => TestDatabase;
  /** Returns a text that occurs only in the names of the current test. */
  readonly tag: () => string;
  email(name?: string): string;
  /**
   * Applies a file. The result leaves out what the file names and what it does not name, since the
   * organizations of other tests are among them.
   */
  apply(organizations: Part[]): Promise<Applied>;
  acme(users: Part[], spaces?: Part[], rest?: Part): Part[];
  ada(rest?: Part): Part;
  research(rest?: Part): Part;
  mistakes(organizations: Part[]): Promise<readonly string[]>;
  rows<T extends Part = Part>(query: string, values?: unknown[]): Promise<T[]>;
  /** Lists Ada's keys, oldest first. */
  keysOf(): Promise<KeyRow[]>;
}

export function provisioning(): Provisioning {
  let test: TestDatabase;
  let tag: string;
  beforeAll(async () => {
    test = await createTestDatabase();
  });
  afterAll(() => test.drop());
  beforeEach(() => {
    tag = newId();
  });
  const email = (name = "ada"): string => `${name}@${tag}.example`;
  const apply = async (organizations: Part[]): Promise<Applied> => {
    const file = parseProvisionFile(JSON.stringify({ organizations }), {
      environment: {},
      isKey: isWellFormedKey,
    });
    const {
      changes: _changes,
      unnamed: _unnamed,
      ...applied
    } = await applyProvisionFile(test.db, file, maker);
    return applied;
  };
  const rows = async <T extends Part = Part>(query: string, values: unknown[] = []): Promise<T[]> =>
    (await test.db.owner.query<T>(query, values)).rows;
  return {
    database: () => test,
    tag: () => tag,
    email,
    apply,
    acme: (users, spaces = [], rest = {}) => [{ name: `Acme ${tag}`, users, spaces, ...rest }],
    ada: (rest = {}) => ({ email: email(), ...rest }),
    research: (rest = {}) => ({ name: "Research", members: { [email()]: "owner" }, ...rest }),
    async mistakes(organizations) {
      const error: unknown = await apply(organizations).then(
        () => undefined,
        (thrown: unknown) => thrown,
      );
      expect(error).toBeInstanceOf(ProvisionError);
      return (error as ProvisionError).mistakes;
    },
    rows,
    keysOf: () =>
      rows<KeyRow>(
        `select key.*
         from api_keys key
         join users owner on owner.id = key.user_id
         where owner.email = $1
         order by key.id`,
        [email()],
      ),
  };
}
